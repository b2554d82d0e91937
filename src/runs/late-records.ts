import { DnsWriteFault, leased, type ZoneRecord } from '../dns/contract.ts'
import { idInMark } from '../model/receipt.ts'
import { hostLease, type JournalEntry, type Run } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { ExposureStore } from '../store/ports/exposures.ts'
import type { LeaseStore } from '../store/ports/leases.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunStore } from '../store/ports/runs.ts'
import { HeldLeases } from './engine/lease.ts'
import type { Runs } from './engine/runs.ts'
import type { StepParts } from './steps/context.ts'

export interface LateRecordsParts extends Pick<StepParts, 'providerFor' | 'readBack'> {
  readonly store: Pick<RunStore, 'rolledBackApplies' | 'readJournal'> &
    Pick<ExposureStore, 'findExposure'> &
    Pick<PlanStore, 'findPlan'> &
    LeaseStore
  readonly runs: Pick<Runs, 'leaseMs'>
  readonly instance: string
  readonly log: Log
  readonly clock: Clock
}

/** The hosts whose late records were removed, and those whose records could not be removed now. */
export interface LateRecords {
  readonly withdrawn: readonly string[]
  readonly left: readonly string[]
}

/** No server holds an update for longer. */
const SINCE_MS = 86_400_000

/**
 * Removes the records of applies that were rolled back and whose update a server made afterwards. The proof that they are ours is
 * the journal of the run: it has the owner mark and all values, and only exactly these are removed, where no exposure has the host.
 */
export async function removeLateRecords(parts: LateRecordsParts): Promise<LateRecords> {
  const { store, clock, log } = parts
  const withdrawn = new Set<string>()
  const left = new Set<string>()
  for (const run of await store.rolledBackApplies(clock.now() - SINCE_MS)) {
    const records = sentIn(await store.readJournal(run.runId, 0))
    if (records.length === 0 || withdrawn.has(run.host) || (await store.findExposure(run.host))) continue
    const outcome = await remove(run, records, parts).catch((error: unknown) => {
      if (!(error instanceof DnsWriteFault)) throw error
      return 'left' as const
    })
    if (outcome === 'left') left.add(run.host)
    if (outcome !== 'withdrawn') continue
    withdrawn.add(run.host)
    const { runId, host } = run
    log.warn(
      { event: 'late_records_removed', runId, host },
      'A DNS server made an update after its apply was rolled back.',
    )
  }
  return { withdrawn: [...withdrawn], left: [...left] }
}

/** The records that an apply has sent, with its owner mark. Empty if it has sent none. */
function sentIn(entries: readonly JournalEntry[]): readonly ZoneRecord[] {
  const intent = entries.findLast(({ step, mark }) => step === 'dns' && mark === 'intent')
  const { records = [], doValidUntil } = (intent?.image ?? {}) as SentImage
  const own = records.filter(({ kept }) => !kept)
  const isMarked = own.some(({ type, value }) => type === 'TXT' && idInMark(value) !== undefined)
  return doValidUntil !== undefined && isMarked ? own : []
}

interface SentImage {
  readonly records?: readonly ZoneRecord[]
  readonly doValidUntil?: number
}

/** Under the lease of the host, so that no run begins meanwhile. */
async function remove(
  { host, planId }: Run,
  records: readonly ZoneRecord[],
  { store, runs, instance, clock, providerFor, readBack }: LateRecordsParts,
): Promise<'withdrawn' | 'left' | 'none'> {
  const zone = (await store.findPlan(planId))?.request.zone
  const provider = zone === undefined ? undefined : providerFor(zone)
  const signal = new AbortController().signal
  if (zone === undefined || !provider || (await readBack(zone, records, signal)) !== 'yes') return 'none'
  const lease = await store.takeLease(hostLease(host), `${instance} late-records`, clock.now(), runs.leaseMs)
  if (!lease) return 'left'
  const held = new HeldLeases(store, [lease], runs.leaseMs, clock)
  try {
    if (await store.findExposure(host)) return 'none'
    const guarded = leased(provider, held)
    let validUntil: number | undefined
    const signing = async (second: number) => {
      validUntil = second
    }
    const removing = guarded.remove(records, signing)
    const outcome = await removing.catch(async (error: unknown) => {
      // The same plan may be applied again as soon as the lease is free.
      if (validUntil !== undefined) await guarded.settle(validUntil)
      throw error
    })
    return outcome === 'removed' ? 'withdrawn' : 'left'
  } finally {
    held.stop()
    await store.releaseLease(lease).catch(() => undefined)
  }
}
