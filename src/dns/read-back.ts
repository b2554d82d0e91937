import { Fault } from '../model/errors.ts'
import { type Clock, systemClock } from '../primitives/clock.ts'
import { poll } from '../primitives/retry.ts'
import type { DnsOutcome, DnsQuestion, DnsReader, DnsRecord, ZoneRecord } from './contract.ts'
import { decodeRdata, encodeRdata, textOf } from './wire/rdata.ts'

type Holding = 'yes' | 'no' | 'partly' | 'unknown'

/**
 * Whether the server serves these records. `yes`: each name and type has exactly the given values, so a removal would
 * succeed. `no`: none of them. `partly`: some of them, or additional values. `unknown`: at least one answer is not reliable.
 * A wildcard's records do not count as records of the name. Rejects only when `signal` aborts, with its reason.
 */
export async function holdsExactly(
  reader: DnsReader,
  records: readonly ZoneRecord[],
  signal?: AbortSignal,
): Promise<Holding> {
  const sets = [...Map.groupBy(records, ({ name, type }) => `${name} ${type}`).values()]
  const questions = sets.flatMap(([record]) => (record ? [record, below(record)] : []))
  const outcomes = await reader.ask(questions, { signal })
  const holdings = sets.map((set, i) => holding(set, outcomes[2 * i], outcomes[2 * i + 1]))
  if (holdings.includes('unknown')) return 'unknown'
  const [first = 'no', ...more] = new Set(holdings)
  return more.length === 0 ? first : 'partly'
}

/**
 * A wildcard above `name` answers for this name exactly when it answers for `name`, that is, while `name` does not exist. The
 * asterisk label excludes a wildcard directly below `name`: if there is one, the asterisk name exists.
 */
const below = ({ name, type }: DnsQuestion) => ({ name: `_.*.${name}`, type })

/** The types that a ZoneRecord can have. */
const WRITABLE_TYPES = ['A', 'AAAA', 'CNAME', 'TXT'] as const

/**
 * All records of these names that a ZoneRecord can describe, for `DnsProvider.replace`. A wildcard's records and records of
 * other types do not count. `unknown`: at least one answer is not reliable. Rejects with Fault if a value is one that
 * Drawbridge cannot write in the same octets, because such a record could neither be compared nor put back.
 */
export async function readSets(
  reader: DnsReader,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<readonly ZoneRecord[] | 'unknown'> {
  const sets = [...new Set(names)].flatMap((name) => WRITABLE_TYPES.map((type) => ({ name, type })))
  const questions = sets.flatMap((set) => [set, below(set)])
  const outcomes = await reader.ask(questions, { signal })
  const found = sets.map((set, i) => ownRecords(set, outcomes[2 * i], outcomes[2 * i + 1])?.map(writable(set)))
  return found.some((records) => !records) ? 'unknown' : found.flatMap((records) => records ?? [])
}

const writable =
  ({ name, type }: Pick<ZoneRecord, 'name' | 'type'>) =>
  ({ ttl, rdata }: DnsRecord): ZoneRecord => {
    const value = decodeRdata(type, rdata)
    if (value !== undefined) return { name, type, ttl, value }
    throw new Fault(
      `${name} has a ${type} record with a value that Drawbridge cannot write. Change or remove the record.`,
    )
  }

/** The values of the name itself. Undefined when an answer is not reliable. */
function ownValues(
  record: ZoneRecord,
  at: DnsOutcome | undefined,
  underneath: DnsOutcome | undefined,
): ReadonlySet<string> | undefined {
  const own = ownRecords(record, at, underneath)
  return own && valuesOf(own)
}

/** The records of the name itself, without those of a wildcard above it. Undefined when an answer is not reliable. */
function ownRecords(
  set: DnsQuestion,
  at: DnsOutcome | undefined,
  underneath: DnsOutcome | undefined,
): readonly DnsRecord[] | undefined {
  if (!at || !underneath) return undefined
  const served = servedRecords(set, at)
  const inherited = inheritedRecords(set, underneath)
  if (!served || !inherited) return undefined
  return isSame(valuesOf(served), valuesOf(inherited)) ? [] : served
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
const inheritedRecords = (set: DnsQuestion, outcome: DnsOutcome): readonly DnsRecord[] | undefined =>
  outcome.kind === 'no_answer' && outcome.reason === 'unaskable' ? [] : servedRecords(below(set), outcome)

const isSame = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.symmetricDifference(right).size === 0

const PAUSES = { firstMs: 10, factor: 1.5, longestMs: 1_000 }

/** `lagging`: the servers, as address and port, that did not confirm it with an authoritative answer in time. */
export type Propagation = { readonly ok: true } | { readonly ok: false; readonly lagging: readonly string[] }

/** `silent`: it gave no answer at all. `lagging`: it has not been asked, its answer is not reliable, or it has the former state. */
type Arrival = 'arrived' | 'lagging' | 'silent'

/**
 * Waits until the servers serve the record (`served`), or until none does (`gone`). Other records do not matter. A server that
 * is silent is not waited for once another one has confirmed: a resolver that gets no answer from it asks another one. A server
 * that answers is waited for, because its answer would be believed. `limitMs` limits the whole wait. Rejects only when `signal`
 * aborts, with its reason.
 */
export async function awaitPropagation(
  servers: readonly DnsReader[],
  record: ZoneRecord,
  wanted: 'served' | 'gone',
  limitMs = 10_000,
  signal?: AbortSignal,
  clock: Clock = systemClock,
): Promise<Propagation> {
  const arrivals = servers.map((): Arrival => 'lagging')
  const isOver = () => arrivals.includes('arrived') && !arrivals.includes('lagging')
  const over = new AbortController()
  const timer = clock.after(limitMs, () => over.abort())
  const ending = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const limits = { ...PAUSES, withinMs: limitMs, signal: ending, clock }
  const asking = servers.map((server, i) => {
    const ask = async () => {
      const arrival = await arrivalAt(server, record, wanted, limits.signal)
      arrivals[i] = arrival
      if (isOver()) over.abort()
      return arrival
    }
    return poll(ask, (arrival) => arrival === 'arrived', limits)
  })
  await Promise.allSettled(asking).finally(() => timer.cancel())
  signal?.throwIfAborted()
  if (isOver()) return { ok: true }
  return { ok: false, lagging: servers.filter((_, i) => arrivals[i] !== 'arrived').map(({ server }) => server) }
}

async function arrivalAt(
  server: DnsReader,
  record: ZoneRecord,
  wanted: 'served' | 'gone',
  signal: AbortSignal,
): Promise<Arrival> {
  const [outcome] = await server.ask([record], { signal })
  if (outcome?.kind === 'no_answer' && (outcome.reason === 'timeout' || outcome.reason === 'unreachable'))
    return 'silent'
  const served = outcome && servedRecords(record, outcome)
  return served && valuesOf(served).has(valueIn(record)) === (wanted === 'served') ? 'arrived' : 'lagging'
}

/** The records in an authoritative answer for this name and type. Undefined when the outcome is not reliable. */
function servedRecords({ name, type }: DnsQuestion, outcome: DnsOutcome): readonly DnsRecord[] | undefined {
  if (outcome.kind === 'no_answer' || !outcome.authoritative) return undefined
  if (outcome.rcode !== 'NOERROR' && outcome.rcode !== 'NXDOMAIN') return undefined
  return outcome.answers.filter((record) => record.owner === name && record.type === type)
}

/** Equal values have equal texts. */
const valuesOf = (records: readonly DnsRecord[]): ReadonlySet<string> =>
  new Set(records.map(({ type, rdata }) => comparable(type, rdata)))

const valueIn = (record: ZoneRecord): string => comparable(record.type, encodeRdata(record))

function comparable(type: string, rdata: Buffer): string {
  if (type !== 'TXT') return rdata.toString('hex')
  return textOf(rdata)?.toString('hex') ?? `no text: ${rdata.toString('hex')}`
}
