import { escapeText } from '../model/escape-text.ts'
import type { FileHash, Receipt, ZoneRecord } from '../model/receipt.ts'

/** One difference between an applied plan and the world. Never holds a line of a file. */
export interface Difference {
  readonly part: 'entry' | 'record' | 'mark' | 'certificate'
  /** The name of a file in the receipt, the name and type of a record, or `served` for the certificate that the Primary shows. */
  readonly field: string
  /** For a file of an edge: the absolute path of the file on its disk that has this part. Absent if the edge does not tell it. */
  readonly path?: string
  readonly expected: string
  readonly found: string
  /** Whether a repair would overwrite something that was changed outside Drawbridge. */
  readonly overwrite: boolean
  /** The server of the Secondary, for its files. Absent: the Primary, the zone, or the certificate. */
  readonly server?: string
}

/** What was applied. */
export interface AppliedExposure {
  readonly host: string
  readonly receipt: Receipt
  readonly records: readonly ZoneRecord[]
}

export interface SeenExposure {
  readonly files: readonly FileHash[]
  /** Everything at the names of the applied records, of the types that Drawbridge can write. */
  readonly records: readonly ZoneRecord[]
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

/** The files of an exposure on the Secondary. */
export interface SeenOnSecondary {
  readonly server: string
  readonly expected: readonly FileHash[]
  readonly found: readonly FileHash[]
}

/** What is missing on a Secondary is written again without a person, but what somebody changed there is left. */
export const secondaryDifferences = (
  { server, expected, found }: SeenOnSecondary,
  isCertificateFile: (path: string) => boolean,
): readonly Difference[] =>
  expected
    .flatMap((file) => fileDifference(file, found, isCertificateFile))
    .map((difference) => ({ ...difference, server }))

/** Compares what was applied with what was seen. */
export const differences = (
  { host, receipt, records }: AppliedExposure,
  seen: SeenExposure,
  isCertificateFile: (path: string) => boolean,
): readonly Difference[] => [
  ...receipt.files.flatMap((file) => fileDifference(file, seen.files, isCertificateFile)),
  ...recordDifferences(host, records, seen.records),
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

/** One difference for each name and type whose values are not those that were applied. */
function recordDifferences(host: string, applied: readonly ZoneRecord[], seen: readonly ZoneRecord[]): Difference[] {
  const isAlias = applied.some(({ type }) => type === 'CNAME')
  // Others may keep text of their own at the name of the host, unless it is an alias.
  const found = seen.filter(({ name, type }) => isAlias || name !== host || type !== 'TXT')
  const sets = Map.groupBy([...applied, ...found], ({ name, type }) => `${name} ${type}`)
  return [...sets].flatMap(([field]) => recordDifference(field, valuesIn(applied, field), valuesIn(found, field)))
}

const valuesIn = (records: readonly ZoneRecord[], field: string): ReadonlySet<string> =>
  new Set(records.flatMap(({ name, type, value }) => (`${name} ${type}` === field ? [value] : [])))

function recordDifference(field: string, applied: ReadonlySet<string>, found: ReadonlySet<string>): Difference[] {
  if (applied.symmetricDifference(found).size === 0) return []
  const part = field.startsWith('_drawbridge.') ? 'mark' : 'record'
  const expected = [...applied].join(', ') || 'none'
  return [{ part, field, expected, found: shownValues(field, found), overwrite: !found.isSubsetOf(applied) }]
}

/** Text that others wrote is not shown. */
function shownValues(field: string, found: ReadonlySet<string>): string {
  if (found.size === 0) return MISSING
  return field.endsWith(' TXT') ? 'another value' : [...found].map(escapeText).join(', ')
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
  if (!certificate || certificate.pairOnEdge || isInStock) return []
  const { certificateFile: field } = certificate
  return [{ part: 'certificate', field, expected: 'present with its key', found: MISSING, overwrite: false }]
}
