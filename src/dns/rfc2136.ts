import { randomInt } from 'node:crypto'
import { type Endpoint, formatEndpoint } from '../model/address.ts'
import type { LeaseGuard } from '../model/run.ts'
import { clauseOf } from '../primitives/clause.ts'
import type { Clock } from '../primitives/clock.ts'
import { FairClock } from '../primitives/fair-clock.ts'
import { awaitBarrier } from './barrier.ts'
import { type DnsProvider, DnsWriteFault, type ServerTime, type Signing } from './contract.ts'
import { replacement } from './replacement.ts'
import { type DnsTransport, sockets } from './transport.ts'
import { CHANGE_FUDGE, FUDGE, type SignedRequest, signRequest, TsigKey, type TsigKeySettings } from './tsig.ts'
import { clocksDiffer, judgeUpdate, UNMET } from './update-verdict.ts'
import { UnaskableName } from './wire/name.ts'
import { UnwritableValue } from './wire/rdata.ts'
import { adds, deletes, encodeUpdate, nameNotInUse, rrsetAbsent, rrsetIs, type Update } from './wire/update.ts'

const MAX_MESSAGE_LENGTH = 0xffff

/** One exchange. An update is waited for longer than its signature lasts: its own answer is the best proof of what became of it. */
const CHECK_LIMIT_MS = 5_000
const CHANGE_LIMIT_MS = 10_000
/** How long `settle` waits, the end of the signature included. The limit of the DNS step is longer. */
const SETTLE_LIMIT_MS = 45_000

export interface Rfc2136Options {
  readonly zone: string
  readonly primary: Endpoint
  readonly key: TsigKeySettings
  /** During a rollover: used when the server accepts it and not `key`. */
  readonly nextKey?: TsigKeySettings | undefined
  readonly limitMs?: number
  readonly clock: Clock
  /** Default: the sockets of this machine. */
  readonly transport?: Pick<DnsTransport, 'exchangeOverTcp'> | undefined
  /** Called with how many seconds our clock is ahead of the server's, after each authentic answer. */
  readonly onClock?: (aheadSeconds: number) => void
}

/** Changes one zone by signed UPDATE messages (RFC 2136, RFC 8945). */
export function rfc2136Provider(options: Rfc2136Options): DnsProvider {
  const { zone, key, nextKey } = options
  const updaters = [key, ...(nextKey ? [nextKey] : [])].map((used) => createUpdater(options, new TsigKey(used)))
  const update = acceptedUpdater(updaters, (updater, signal) => rehearse(updater, options, signal))
  return {
    async create(records, guard, signing) {
      const names = [...new Set(records.map(({ name }) => name))]
      const request = () => ({ zone, prerequisites: names.map(nameNotInUse), changes: records.map(adds) })
      return (await update(request, { unmet: ['YXDOMAIN'], guard, signing })).made ? 'created' : 'in_use'
    },
    async remove(records, guard, signing) {
      const request = () => ({ zone, prerequisites: records.map(rrsetIs), changes: records.map(deletes) })
      return (await update(request, { unmet: ['NXRRSET'], guard, signing })).made ? 'removed' : 'changed'
    },
    async replace(found, wanted, guard, signing) {
      const request = () => ({ zone, ...replacement(found, wanted) })
      return (await update(request, { unmet: UNMET, guard, signing })).made ? 'replaced' : 'changed'
    },
    async addValue(record, guard, signing) {
      // A server says NOERROR to an addition beside a CNAME and ignores it (RFC 2136 section 3.4.2.2).
      const request = () => ({ zone, prerequisites: [rrsetAbsent(record.name, 'CNAME')], changes: [adds(record)] })
      if ((await update(request, { unmet: ['YXRRSET'], guard, signing })).made) return
      throw new DnsWriteFault(
        'refused',
        `${record.name} has a CNAME record, so it cannot have a ${record.type} record. Remove the CNAME record.`,
      )
    },
    async removeValue(record, guard, signing) {
      await update(() => ({ zone, prerequisites: [], changes: [deletes(record)] }), { guard, signing })
    },
    checkAccess: (signal) => rehearse(update, options, signal),
    async assertAccess(signal) {
      const { aheadSeconds } = await rehearse(update, options, signal)
      if (Math.abs(aheadSeconds) > CHANGE_FUDGE)
        throw new DnsWriteFault('refused', `No update was sent. ${clocksDiffer(aheadSeconds)}`)
    },
    settle: (validUntil, signal) =>
      awaitBarrier(
        validUntil,
        {
          probe: (ending) => rehearse(update, options, ending),
          clock: options.clock,
          longestSeconds: CHANGE_FUDGE,
          withinMs: SETTLE_LIMIT_MS,
        },
        signal,
      ),
  }
}

/** Sends an update that changes nothing. Resolves if the server accepts the key and its permissions. */
async function rehearse(
  update: Updater,
  { zone, primary }: Rfc2136Options,
  signal: AbortSignal | undefined,
): Promise<ServerTime> {
  // The zone's own name is always in use, so the prerequisite fails. Some servers check permissions by the changes, so the
  // update has one. If a server made the change after all, it would remove a record that does not exist.
  const unusedRecord = { name: `_drawbridge-rehearsal.${zone}`, type: 'TXT', ttl: 0, value: 'rehearsal' } as const
  const request = () => ({ zone, prerequisites: [nameNotInUse(zone)], changes: [deletes(unusedRecord)] })
  const { made, aheadSeconds, serverSeconds } = await update(request, {
    unmet: ['YXDOMAIN'],
    signal,
    changesNothing: true,
  })
  if (!made) return { aheadSeconds, serverSeconds }
  throw new DnsWriteFault(
    'refused',
    `The DNS server ${formatEndpoint(primary)} ignores the prerequisites of an update. Drawbridge cannot use it.`,
  )
}

/**
 * The updater whose key the server accepts, the first of them where it accepts both. Which one that is, is asked at the first
 * update and after each failure. An update is sent again with another key only if the server has certainly not made it.
 */
function acceptedUpdater(
  updaters: readonly Updater[],
  isAccepted: (updater: Updater, signal: AbortSignal | undefined) => Promise<unknown>,
): Updater {
  const [first] = updaters
  if (!first) throw new Error('A zone is changed with at least one key.')
  if (updaters.length === 1) return first
  let chosen: Updater | undefined
  const choose = async (signal: AbortSignal | undefined): Promise<Updater> => {
    for (const updater of updaters)
      if (
        await isAccepted(updater, signal).then(
          () => true,
          () => false,
        )
      )
        return updater
    signal?.throwIfAborted()
    return first
  }
  return async (update, options = {}) => {
    const signal = options.signal ?? options.guard?.signal
    chosen ??= await choose(signal)
    const used = chosen
    try {
      return await used(update, options)
    } catch (error) {
      chosen = undefined
      if (!(error instanceof DnsWriteFault) || error.kind !== 'refused') throw error
      chosen = await choose(signal)
      if (chosen === used) throw error
      return chosen(update, options)
    }
  }
}

/** Sends one UPDATE. `made` is false when a prerequisite failed with one of the rcodes `unmet`. Every other failure rejects with DnsWriteFault. */
type Updater = (update: () => Update, options?: UpdateOptions) => Promise<ServerTime & { readonly made: boolean }>

interface UpdateOptions {
  readonly unmet?: readonly string[]
  readonly guard?: LeaseGuard | undefined
  /** Default: that of the guard. */
  readonly signal?: AbortSignal | undefined
  readonly signing?: Signing | undefined
  /** It may be accepted late, so its signature lasts as long as the standard recommends. */
  readonly changesNothing?: boolean
}

function createUpdater(options: Rfc2136Options, key: TsigKey): Updater {
  const { zone, primary, limitMs, clock, transport = sockets, onClock } = options
  const server = formatEndpoint(primary)
  const seconds = () => Math.floor(clock.now() / 1000)
  return async (update, { unmet = [], guard, signal = guard?.signal, signing, changesNothing = false } = {}) => {
    const id = randomInt(0x10000)
    await guard?.ensureHeld()
    signal?.throwIfAborted()
    const [time, fudge] = [seconds(), changesNothing ? FUDGE : fudgeFor(zone, clock.now(), guard)]
    const { wire, mac } = encodeOrRefuse(zone, () => signRequest(encodeUpdate(id, update()), key, time, fudge))
    await signing?.(time + fudge)
    signal?.throwIfAborted()
    using waited = new FairClock(clock)
    const limit = { clock: waited, limitMs: limitMs ?? (changesNothing ? CHECK_LIMIT_MS : CHANGE_LIMIT_MS), signal }
    const outcome = await transport.exchangeOverTcp(primary, wire, limit)
    signal?.throwIfAborted()
    const at = seconds()
    const verdict = judgeUpdate({ id, mac, key, zone, server, fudge }, outcome, at)
    if (verdict instanceof DnsWriteFault) throw verdict
    const { rcode, serverSeconds } = verdict
    const aheadSeconds = at - serverSeconds
    onClock?.(aheadSeconds)
    if (rcode === 'NOERROR' || unmet.includes(rcode)) return { made: rcode === 'NOERROR', aheadSeconds, serverSeconds }
    throw new DnsWriteFault(
      'refused',
      `The DNS server ${server} refused an update of ${zone} with the unexpected code ${rcode}. See the server's log.`,
    )
  }
}

/** A server accepts a signature during the whole of its last second, and that must end before the lease does. */
function fudgeFor(zone: string, now: number, guard: LeaseGuard | undefined): number {
  if (!guard) return CHANGE_FUDGE
  const wholeSeconds = Math.floor((now + guard.leftMs) / 1000) - Math.floor(now / 1000)
  const fudge = Math.min(CHANGE_FUDGE, wholeSeconds - 1)
  if (fudge >= 1) return fudge
  throw new DnsWriteFault(
    'refused',
    `The update of ${zone} was not sent: the lease of the run ends too soon. Try again.`,
  )
}

/** Refuses a value that a DNS message cannot contain before anything is sent. */
function encodeOrRefuse(zone: string, write: () => SignedRequest): SignedRequest {
  try {
    const request = write()
    if (request.wire.length > MAX_MESSAGE_LENGTH) throw new UnwritableValue('the records are too large for one message')
    return request
  } catch (error) {
    if (!(error instanceof UnaskableName || error instanceof UnwritableValue)) throw error
    throw new DnsWriteFault('refused', `The update of ${zone} was not sent: ${clauseOf(error)}.`)
  }
}
