import { escapeText } from '../model/escape-text.ts'
import type { Receipt, ZoneRecord } from '../model/receipt.ts'

/** One difference between an applied plan and the world. Never holds a line of a file. */
export interface Difference {
  readonly part: 'entry' | 'record' | 'mark' | 'certificate'
  /** What of an entry differs, the name and type of a record, or `served` for the certificate that the Primary shows. */
  readonly field: string
  /** For an entry: the absolute path of the file on the disk of its edge that has this part. */
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
  readonly entry: AppliedEntry
}

export interface SeenExposure {
  /** The entry on the Primary. Undefined: it was not asked. */
  readonly entry: SeenEntry | undefined
  /** Everything at the names of the applied records, of the types that Drawbridge can write. */
  readonly records: readonly ZoneRecord[]
  /** The fingerprint of the certificate that the Primary shows. Null: it shows none. Undefined: it was not asked. */
  readonly served: string | null | undefined
  /** Whether the certificate and its key are in one of the folders of certificates. */
  readonly isInStock: boolean
}

/** An entry as an edge tells it. Its words are only shown. */
export interface SeenEntry {
  readonly server: string
  /** Where a person finds it. */
  readonly file: string
  readonly line: number | null
  /** Null: the edge has none. */
  readonly plan: string | null
  readonly certificate: string | null
  readonly drift: readonly {
    readonly field: string
    readonly expected?: string | undefined
    readonly found?: string | undefined
    readonly file: string
    readonly line: number | null
  }[]
}

/** What was applied of an entry: its plan, and the id of its certificate. */
export interface AppliedEntry {
  readonly plan: string
  readonly certificate: string | null
}

const MISSING = 'missing'

/** What is missing on a Secondary is written again without a person, but what somebody changed there is left. */
export const secondaryDifferences = (seen: SeenEntry, applied: AppliedEntry): readonly Difference[] =>
  entryDifferences(seen, applied).map((difference) => ({ ...difference, server: seen.server }))

/** Compares what was applied with what was seen. */
export const differences = (
  { host, receipt, records, entry }: AppliedExposure,
  seen: SeenExposure,
): readonly Difference[] => [
  ...(seen.entry ? entryDifferences(seen.entry, entry) : []),
  ...recordDifferences(host, records, seen.records),
  ...servedDifference(receipt, seen.served),
  ...stockDifference(receipt, seen.isInStock),
]

function entryDifferences(seen: SeenEntry, applied: AppliedEntry): Difference[] {
  const path = escapeText(seen.file)
  const entry = { part: 'entry', field: 'entry', path, overwrite: false } as const
  if (seen.plan === null && seen.drift.length === 0) return [{ ...entry, expected: applied.plan, found: MISSING }]
  const edited = seen.drift.map(
    ({ field: what, expected, found, file }): Difference => ({
      part: what === 'certificate' ? 'certificate' : 'entry',
      field: what,
      path: escapeText(file),
      expected: expected === undefined ? 'as applied' : escapeText(expected),
      found: found === undefined ? 'edited' : escapeText(found),
      overwrite: found !== MISSING && what !== 'owner',
    }),
  )
  if (edited.length > 0) return edited
  if (seen.plan !== applied.plan)
    return [{ ...entry, expected: applied.plan, found: escapeText(seen.plan ?? MISSING), overwrite: true }]
  if (seen.certificate === applied.certificate) return []
  const expected = applied.certificate ?? 'none'
  return [
    {
      part: 'certificate',
      field: 'certificate',
      path,
      expected,
      found: escapeText(seen.certificate ?? 'none'),
      overwrite: false,
    },
  ]
}

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
