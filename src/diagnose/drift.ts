import { escapeText } from '../model/escape-text.ts'
import type { Receipt, ZoneRecord } from '../model/receipt.ts'

/** One difference between an applied plan and the world. Never holds a line of a file. */
export interface Difference {
  readonly part: 'entry' | 'record' | 'mark' | 'certificate'
  /**
   * What of an entry differs, such as `backend` or the option `timeouts.read`, the name and type of a record, or `served` for the
   * certificate that the Primary shows.
   */
  readonly field: string
  readonly expected: string
  readonly found: string
  /** Whether a repair would overwrite something that was changed outside Drawbridge. */
  readonly overwrite: boolean
  /** For an entry: the absolute path of the file on the disk of its edge that has this part, and its line. */
  readonly file?: string
  readonly line?: number
  /** The same as `file`, for callers of earlier versions. */
  readonly path?: string
  /** When the file was last written. */
  readonly since?: string
  /** Other hosts that the same change touches, and how many more than are named. */
  readonly alsoTouches?: string[]
  readonly alsoTouchesMore?: number
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
  /** The certificate that the Primary shows. Null: it shows none. Undefined: it was not asked. */
  readonly served: Certificate | null | undefined
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
  readonly drift: readonly SeenDrift[]
}

interface SeenDrift {
  readonly field: string
  readonly expected?: string | undefined
  readonly found?: string | undefined
  readonly added?: number | undefined
  readonly absent?: number | undefined
  readonly since?: number | undefined
  readonly alsoTouches?: readonly string[] | undefined
  readonly alsoTouchesMore?: number | undefined
  readonly file: string
  readonly line: number | null
}

/** What was applied of an entry: its plan, and the id of its certificate, with the certificate. */
export interface AppliedEntry {
  readonly plan: string
  readonly certificate: string | null
  readonly shown: Certificate | undefined
}

interface Certificate {
  readonly fingerprint: string
  readonly names: readonly string[]
  readonly notAfter: number
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
  const place = placeOf(seen)
  const entry = { part: 'entry', field: 'entry', ...place, overwrite: false } as const
  if (seen.plan === null && seen.drift.length === 0) return [{ ...entry, expected: applied.plan, found: MISSING }]
  if (seen.drift.length > 0) return seen.drift.map((drift) => editedDifference(drift, applied))
  if (seen.plan !== applied.plan)
    return [{ ...entry, expected: applied.plan, found: escapeText(seen.plan ?? MISSING), overwrite: true }]
  if (seen.certificate === applied.certificate) return []
  const [expected, found] = [idInWords(applied.certificate, applied), idInWords(seen.certificate, applied)]
  return [{ ...entry, part: 'certificate', field: 'certificate', expected, found }]
}

function editedDifference(drift: SeenDrift, applied: AppliedEntry): Difference {
  const { field, expected, found, added = 0, absent = 0, since, alsoTouches, alsoTouchesMore } = drift
  const words = field === 'certificate' ? (text: string) => idInWords(text, applied) : escapeText
  return {
    part: field === 'certificate' ? 'certificate' : 'entry',
    field: escapeText(field),
    expected: expected === undefined ? 'as applied' : words(expected),
    found: found === undefined ? linesInWords(added, absent) : words(found),
    overwrite: found !== MISSING && field !== 'owner',
    ...placeOf(drift),
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(alsoTouches && alsoTouches.length > 0 && { alsoTouches: alsoTouches.map(escapeText) }),
    ...(alsoTouchesMore !== undefined && { alsoTouchesMore }),
  }
}

const placeOf = ({ file, line }: { readonly file: string; readonly line: number | null }) => ({
  file: escapeText(file),
  ...(line !== null && { line }),
  path: escapeText(file),
})

/** `2 lines that belong to no option, 1 line is missing` */
function linesInWords(added: number, absent: number): string {
  const parts = [
    ...(added > 0
      ? [added === 1 ? '1 line that belongs to no option' : `${added} lines that belong to no option`]
      : []),
    ...(absent > 0 ? [absent === 1 ? '1 line is missing' : `${absent} lines are missing`] : []),
  ]
  return parts.join(', ') || 'edited'
}

/** A person cannot compare two ids of certificates. */
function idInWords(id: string | null, { certificate, shown }: AppliedEntry): string {
  if (id === null) return 'none'
  if (id === certificate && shown) return certificateInWords(shown)
  return /^[0-9a-f]{32}$/.test(id) ? 'another certificate' : escapeText(id)
}

const MOST_NAMES = 3

const certificateInWords = ({ names, notAfter }: Certificate): string =>
  `for ${names.slice(0, MOST_NAMES).map(escapeText).join(', ')}${names.length > MOST_NAMES ? ' and others' : ''}, valid until ${new Date(notAfter).toISOString().slice(0, 10)}`

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
  if (!certificate || served === undefined || served?.fingerprint === certificate.fingerprint) return []
  const found = served === null ? MISSING : `another one ${certificateInWords(served)}`
  const expected = certificateInWords(certificate)
  return [{ part: 'certificate', field: 'served', expected, found, overwrite: false }]
}

function stockDifference({ certificate }: Receipt, isInStock: boolean): Difference[] {
  if (!certificate || certificate.pairOnEdge || isInStock) return []
  const { certificateFile: field } = certificate
  return [{ part: 'certificate', field, expected: 'present with its key', found: MISSING, overwrite: false }]
}
