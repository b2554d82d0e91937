import type { DnsOutcome, DnsReader, ZoneRecord } from './contract.ts'
import { servedValues, valueIn } from './served.ts'

type Holding = 'yes' | 'no' | 'partly' | 'unknown'

/**
 * Whether the server serves these records. `yes`: for each name and type among them exactly the values given, so that a
 * removal would find what it requires. `no`: not one of them. `partly`: some of them, or others beside them. `unknown`:
 * one of the answers cannot be relied on. What a wildcard answers for a name is not that name's.
 */
export async function holdsExactly(reader: DnsReader, records: readonly ZoneRecord[]): Promise<Holding> {
  const sets = [...Map.groupBy(records, ({ name, type }) => `${name} ${type}`).values()]
  const questions = sets.flatMap(([record]) => (record ? [record, below(record)] : []))
  const outcomes = await reader.ask(questions)
  const holdings = sets.map((set, i) => holding(set, outcomes[2 * i], outcomes[2 * i + 1]))
  if (holdings.includes('unknown')) return 'unknown'
  const [first = 'no', ...more] = new Set(holdings)
  return more.length === 0 ? first : 'partly'
}

/**
 * A name that a wildcard above `name` answers for as it does for `name`, but only while `name` itself does not exist. The
 * asterisk keeps a wildcard directly below `name` from answering: if there is one, the asterisk exists.
 */
const below = ({ name, type }: ZoneRecord) => ({ name: `_.*.${name}`, type })

function holding(set: readonly ZoneRecord[], at: DnsOutcome | undefined, underneath: DnsOutcome | undefined): Holding {
  const [record] = set
  if (!record || !at || !underneath) return 'unknown'
  const served = servedValues(record, at)
  const inherited = inheritedValues(record, underneath)
  if (!served || !inherited) return 'unknown'
  const own = isSame(served, inherited) ? new Set<string>() : served
  const wanted = new Set(set.map(valueIn))
  if (isSame(own, wanted)) return 'yes'
  return own.isDisjointFrom(wanted) ? 'no' : 'partly'
}

/** Below a name of almost the greatest length nothing can be asked: such a name is taken at its word. */
const inheritedValues = (record: ZoneRecord, outcome: DnsOutcome): ReadonlySet<string> | undefined =>
  outcome.kind === 'no_answer' && outcome.reason === 'unaskable' ? new Set() : servedValues(below(record), outcome)

const isSame = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.symmetricDifference(right).size === 0
