import type { FileHash, Receipt, ZoneRecord } from '../model/receipt.ts'

/** One difference between an applied plan and the world. Never holds a line of a file. */
export interface Difference {
  readonly part: 'entry' | 'record' | 'mark' | 'certificate'
  /** The path of a file, the name and type of a record, or `served` for the certificate that the Primary shows. */
  readonly field: string
  readonly expected: string
  readonly found: string
  /** Whether a repair would overwrite something that was changed outside Drawbridge. */
  readonly overwrite: boolean
}

/** What was seen of one record. `other`: the name has other values of this type. */
export interface SeenRecord {
  readonly record: ZoneRecord
  readonly held: 'same' | 'other' | 'missing'
  /** The values that were found, where they can be shown. */
  readonly values: readonly string[]
}

export interface SeenExposure {
  readonly files: readonly FileHash[]
  readonly records: readonly SeenRecord[]
  /** The fingerprint of the certificate that the Primary shows. Null: it shows none. Undefined: it was not asked. */
  readonly served: string | null | undefined
  /** Whether the certificate and its key are in one of the folders of certificates. */
  readonly isInStock: boolean
}

/**
 * The Primary's files of an exposure, as they were applied. While a run changes the exposure, the files of its certificate are
 * left out: they are neither what was applied nor anybody's edit.
 */
export const filesToCompare = (
  { receipt, runId }: { readonly receipt?: Receipt | undefined; readonly runId?: string | undefined },
  isCertificateFile: (path: string) => boolean,
): readonly FileHash[] => (receipt?.files ?? []).filter(({ path }) => runId === undefined || !isCertificateFile(path))

const MISSING = 'missing'

/** Compares what the receipt of an applied plan says with what was seen. */
export const differences = (
  receipt: Receipt,
  seen: SeenExposure,
  isCertificateFile: (path: string) => boolean,
): readonly Difference[] => [
  ...receipt.files.flatMap((file) => fileDifference(file, seen.files, isCertificateFile)),
  ...seen.records.flatMap(recordDifference),
  ...servedDifference(receipt, seen.served),
  ...stockDifference(receipt, seen.isInStock),
]

function fileDifference(
  { path, hash }: FileHash,
  seen: readonly FileHash[],
  isCertificateFile: (path: string) => boolean,
): Difference[] {
  const { hash: found = null, owner } = seen.find((file) => file.path === path) ?? {}
  const part = isCertificateFile(path) ? 'certificate' : 'entry'
  if (found === hash && owner === undefined) return []
  if (found === hash)
    return [
      { part, field: path, expected: 'owned by Drawbridge', found: `owned by user id ${owner}`, overwrite: false },
    ]
  return [{ part, field: path, expected: shownHash(hash), found: shownHash(found), overwrite: found !== null }]
}

/** A text that is no hash says what stands at the path instead of a regular file. */
const shownHash = (hash: string | null): string =>
  hash === null ? MISSING : /^[0-9a-f]{64}$/.test(hash) ? `sha256:${hash}` : hash

function recordDifference({ record, held, values }: SeenRecord): Difference[] {
  if (held === 'same') return []
  const { name, type, value } = record
  const found = held === 'missing' ? MISSING : values.join(', ') || 'another value'
  const part = name.startsWith('_drawbridge.') ? 'mark' : 'record'
  return [{ part, field: `${name} ${type}`, expected: value, found, overwrite: held === 'other' }]
}

function servedDifference({ certificate }: Receipt, served: SeenExposure['served']): Difference[] {
  if (!certificate || served === undefined || served === certificate.fingerprint) return []
  return [
    {
      part: 'certificate',
      field: 'served',
      expected: certificate.fingerprint,
      found: served ?? MISSING,
      overwrite: false,
    },
  ]
}

function stockDifference({ certificate }: Receipt, isInStock: boolean): Difference[] {
  if (!certificate || isInStock) return []
  const { certificateFile: field } = certificate
  return [{ part: 'certificate', field, expected: 'present with its key', found: MISSING, overwrite: false }]
}
