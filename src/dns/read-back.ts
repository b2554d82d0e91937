import { poll } from '../primitives/retry.ts'
import type { DnsOutcome, DnsQuestion, DnsReader, ZoneRecord } from './contract.ts'
import { encodeRdata, textOf } from './wire/rdata.ts'

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

const PAUSES = { firstMs: 50, factor: 1.5, longestMs: 1_000 }

/** `lagging`: the servers, by address and port, that did not say so with authority before the time was over. */
export type Propagation = { readonly ok: true } | { readonly ok: false; readonly lagging: readonly string[] }

/**
 * Waits until every server serves the record, whatever else stands beside it, or until none does any more. `limitMs` is
 * the limit of the whole wait.
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
 * The values that a zone's own server serves for the name and type it was asked for, each as a text that equals that of
 * an equal value. Undefined where the outcome cannot be relied on.
 */
function servedValues({ name, type }: DnsQuestion, outcome: DnsOutcome): ReadonlySet<string> | undefined {
  if (outcome.kind === 'no_answer' || !outcome.authoritative) return undefined
  if (outcome.rcode !== 'NOERROR' && outcome.rcode !== 'NXDOMAIN') return undefined
  const records = outcome.answers.filter((record) => record.owner === name && record.type === type)
  return new Set(records.map(({ rdata }) => comparable(type, rdata)))
}

/** The value of a record in the same form. */
const valueIn = (record: ZoneRecord): string => comparable(record.type, encodeRdata(record))

function comparable(type: string, rdata: Buffer): string {
  if (type !== 'TXT') return rdata.toString('hex')
  return textOf(rdata)?.toString('hex') ?? `no text: ${rdata.toString('hex')}`
}
