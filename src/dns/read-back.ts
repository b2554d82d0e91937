import { poll } from '../primitives/retry.ts'
import type { DnsOutcome, DnsQuestion, DnsReader, ZoneRecord } from './contract.ts'
import { encodeRdata, textOf } from './wire/rdata.ts'

type Holding = 'yes' | 'no' | 'partly' | 'unknown'

/**
 * Whether the server serves these records. `yes`: each name and type has exactly the given values, so a removal would
 * succeed. `no`: none of them. `partly`: some of them, or additional values. `unknown`: at least one answer is not reliable.
 * A wildcard's records do not count as records of the name.
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
 * A wildcard above `name` answers for this name exactly when it answers for `name`, that is, while `name` does not exist. The
 * asterisk label excludes a wildcard directly below `name`: if there is one, the asterisk name exists.
 */
const below = ({ name, type }: ZoneRecord) => ({ name: `_.*.${name}`, type })

/** Whether the server serves exactly this value for its name and type, other ones, or none. */
export async function readRecord(
  reader: DnsReader,
  record: ZoneRecord,
): Promise<'same' | 'other' | 'missing' | 'unknown'> {
  const [at, underneath] = await reader.ask([record, below(record)])
  const own = ownValues(record, at, underneath)
  if (!own) return 'unknown'
  if (own.size === 0) return 'missing'
  return isSame(own, new Set([valueIn(record)])) ? 'same' : 'other'
}

/** The values of the name itself, without those of a wildcard above it. Undefined when an answer is not reliable. */
function ownValues(
  record: ZoneRecord,
  at: DnsOutcome | undefined,
  underneath: DnsOutcome | undefined,
): ReadonlySet<string> | undefined {
  if (!at || !underneath) return undefined
  const served = servedValues(record, at)
  const inherited = inheritedValues(record, underneath)
  if (!served || !inherited) return undefined
  return isSame(served, inherited) ? new Set() : served
}

function holding(set: readonly ZoneRecord[], at: DnsOutcome | undefined, underneath: DnsOutcome | undefined): Holding {
  const [record] = set
  const own = record && ownValues(record, at, underneath)
  if (!own) return 'unknown'
  const wanted = new Set(set.map(valueIn))
  if (isSame(own, wanted)) return 'yes'
  return own.isDisjointFrom(wanted) ? 'no' : 'partly'
}

/** A name of almost the maximum length cannot have a longer name below it. Its own answer is trusted. */
const inheritedValues = (record: ZoneRecord, outcome: DnsOutcome): ReadonlySet<string> | undefined =>
  outcome.kind === 'no_answer' && outcome.reason === 'unaskable' ? new Set() : servedValues(below(record), outcome)

const isSame = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.symmetricDifference(right).size === 0

const PAUSES = { firstMs: 50, factor: 1.5, longestMs: 1_000 }

/** `lagging`: the servers, as address and port, that did not confirm it with an authoritative answer in time. */
export type Propagation = { readonly ok: true } | { readonly ok: false; readonly lagging: readonly string[] }

/**
 * Waits until every server serves the record (`served`), or until none does (`gone`). Other records do not matter. `limitMs`
 * limits the whole wait.
 */
export async function awaitPropagation(
  servers: readonly DnsReader[],
  record: ZoneRecord,
  wanted: 'served' | 'gone',
  limitMs = 10_000,
): Promise<Propagation> {
  const timeIsUp = Promise.withResolvers<false>()
  const timer = setTimeout(() => timeIsUp.resolve(false), limitMs)
  const arrivals = servers.map((server) =>
    Promise.race([arrives(server, record, wanted === 'served', limitMs), timeIsUp.promise]),
  )
  const arrived = await Promise.all(arrivals)
  clearTimeout(timer)
  const lagging = servers.filter((_, i) => !arrived[i]).map(({ server }) => server)
  return lagging.length === 0 ? { ok: true } : { ok: false, lagging }
}

const arrives = (server: DnsReader, record: ZoneRecord, isWanted: boolean, withinMs: number): Promise<boolean> =>
  poll(
    async () => {
      const [outcome] = await server.ask([record])
      const values = outcome && servedValues(record, outcome)
      return values?.has(valueIn(record)) === isWanted
    },
    (hasArrived) => hasArrived,
    { ...PAUSES, withinMs },
  )

/**
 * The values in an authoritative answer for this name and type. Equal values have equal texts. Undefined when the outcome is
 * not reliable.
 */
function servedValues({ name, type }: DnsQuestion, outcome: DnsOutcome): ReadonlySet<string> | undefined {
  if (outcome.kind === 'no_answer' || !outcome.authoritative) return undefined
  if (outcome.rcode !== 'NOERROR' && outcome.rcode !== 'NXDOMAIN') return undefined
  const records = outcome.answers.filter((record) => record.owner === name && record.type === type)
  return new Set(records.map(({ rdata }) => comparable(type, rdata)))
}

const valueIn = (record: ZoneRecord): string => comparable(record.type, encodeRdata(record))

function comparable(type: string, rdata: Buffer): string {
  if (type !== 'TXT') return rdata.toString('hex')
  return textOf(rdata)?.toString('hex') ?? `no text: ${rdata.toString('hex')}`
}
