import { randomInt } from 'node:crypto'
import { type Endpoint, formatEndpoint } from '../model/address.ts'
import type { LeaseGuard } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import { FairClock } from '../primitives/fair-clock.ts'
import { type DnsProvider, DnsWriteFault } from './contract.ts'
import { replacement } from './replacement.ts'
import { exchangeOverTcp } from './transport.ts'
import { FUDGE, type SignedRequest, signRequest, TsigKey, type TsigKeySettings } from './tsig.ts'
import { judgeUpdate, UNMET } from './update-verdict.ts'
import { UnaskableName } from './wire/name.ts'
import { UnwritableValue } from './wire/rdata.ts'
import { adds, deletes, encodeUpdate, nameNotInUse, rrsetAbsent, rrsetIs, type Update } from './wire/update.ts'

const MAX_MESSAGE_LENGTH = 0xffff

export interface Rfc2136Options {
  readonly zone: string
  readonly primary: Endpoint
  readonly key: TsigKeySettings
  /** During a rollover: used when the server accepts it and not `key`. */
  readonly nextKey?: TsigKeySettings | undefined
  readonly limitMs?: number
  readonly clock: Clock
  /** Called with how many seconds our clock is ahead of the server's, after each authentic answer. */
  readonly onClock?: (aheadSeconds: number) => void
}

/** Changes one zone by signed UPDATE messages (RFC 2136, RFC 8945). */
export function rfc2136Provider(options: Rfc2136Options): DnsProvider {
  const { zone, key, nextKey } = options
  const updaters = [key, ...(nextKey ? [nextKey] : [])].map((used) => createUpdater(options, new TsigKey(used)))
  const update = acceptedUpdater(updaters, (updater, signal) => rehearse(updater, options, signal))
  return {
    async create(records, guard) {
      const names = [...new Set(records.map(({ name }) => name))]
      const request = () => ({ zone, prerequisites: names.map(nameNotInUse), changes: records.map(adds) })
      return (await update(request, { unmet: ['YXDOMAIN'], guard })).made ? 'created' : 'in_use'
    },
    async remove(records, guard) {
      const request = () => ({ zone, prerequisites: records.map(rrsetIs), changes: records.map(deletes) })
      return (await update(request, { unmet: ['NXRRSET'], guard })).made ? 'removed' : 'changed'
    },
    async replace(found, wanted, guard) {
      const request = () => ({ zone, ...replacement(found, wanted) })
      return (await update(request, { unmet: UNMET, guard })).made ? 'replaced' : 'changed'
    },
    async addValue(record, guard) {
      // A server says NOERROR to an addition beside a CNAME and ignores it (RFC 2136 section 3.4.2.2).
      const request = () => ({ zone, prerequisites: [rrsetAbsent(record.name, 'CNAME')], changes: [adds(record)] })
      if ((await update(request, { unmet: ['YXRRSET'], guard })).made) return
      throw new DnsWriteFault(
        'refused',
        `${record.name} has a CNAME record, so it cannot have a ${record.type} record. Remove the CNAME record.`,
      )
    },
    async removeValue(record, guard) {
      await update(() => ({ zone, prerequisites: [], changes: [deletes(record)] }), { guard })
    },
    checkAccess: (signal) => rehearse(update, options, signal),
  }
}

/** Sends an update that changes nothing. Resolves if the server accepts the key and its permissions. */
async function rehearse(update: Updater, { zone, primary }: Rfc2136Options, signal: AbortSignal | undefined) {
  // The zone's own name is always in use, so the prerequisite fails. Some servers check permissions by the changes, so the
  // update has one. If a server made the change after all, it would remove a record that does not exist.
  const unusedRecord = { name: `_drawbridge-rehearsal.${zone}`, type: 'TXT', ttl: 0, value: 'rehearsal' } as const
  const request = () => ({ zone, prerequisites: [nameNotInUse(zone)], changes: [deletes(unusedRecord)] })
  const { made, aheadSeconds } = await update(request, { unmet: ['YXDOMAIN'], signal })
  if (!made) return { aheadSeconds }
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

/**
 * Sends one UPDATE. `made` is false when a prerequisite failed with one of the rcodes `unmet`. Every other failure rejects with
 * DnsWriteFault. `aheadSeconds`: how far our clock is ahead of the server's clock.
 */
type Updater = (
  update: () => Update,
  options?: {
    readonly unmet?: readonly string[]
    readonly guard?: LeaseGuard | undefined
    /** Default: that of the guard. */
    readonly signal?: AbortSignal | undefined
  },
) => Promise<{ readonly made: boolean; readonly aheadSeconds: number }>

function createUpdater(options: Rfc2136Options, key: TsigKey): Updater {
  const { zone, primary, limitMs = 5_000, clock, onClock } = options
  const server = formatEndpoint(primary)
  const seconds = () => Math.floor(clock.now() / 1000)
  return async (update, { unmet = [], guard, signal = guard?.signal } = {}) => {
    const id = randomInt(0x10000)
    await guard?.ensureHeld()
    signal?.throwIfAborted()
    const fudge = guard && Math.max(1, Math.min(FUDGE, Math.floor(guard.leftMs / 1000)))
    const { wire, mac } = encodeOrRefuse(zone, () => signRequest(encodeUpdate(id, update()), key, seconds(), fudge))
    using waited = new FairClock(clock)
    const outcome = await exchangeOverTcp(primary, wire, { clock: waited, limitMs, signal })
    signal?.throwIfAborted()
    const at = seconds()
    const verdict = judgeUpdate({ id, mac, key, zone, server }, outcome, at)
    if (verdict instanceof DnsWriteFault) throw verdict
    const { rcode, serverSeconds } = verdict
    onClock?.(at - serverSeconds)
    if (rcode === 'NOERROR' || unmet.includes(rcode))
      return { made: rcode === 'NOERROR', aheadSeconds: at - serverSeconds }
    throw new DnsWriteFault(
      'refused',
      `The DNS server ${server} refused an update of ${zone} with the unexpected code ${rcode}. See the server's log.`,
    )
  }
}

/** Refuses a value that a DNS message cannot contain before anything is sent. */
function encodeOrRefuse(zone: string, write: () => SignedRequest): SignedRequest {
  try {
    const request = write()
    if (request.wire.length > MAX_MESSAGE_LENGTH) throw new UnwritableValue('the records are too large for one message')
    return request
  } catch (error) {
    if (!(error instanceof UnaskableName || error instanceof UnwritableValue)) throw error
    throw new DnsWriteFault('refused', `The update of ${zone} was not sent: ${error.message}.`)
  }
}
