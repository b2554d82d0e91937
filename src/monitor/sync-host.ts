import type { EdgeAnswer } from '../edge/contract/visit.ts'
import type { FullCheck, HostStatus, WatchedHost } from '../model/host-status.ts'
import type { Receipt } from '../model/receipt.ts'
import type { Exposure } from '../store/ports/exposures.ts'
import type { RunStore } from '../store/ports/runs.ts'
import { pending, statusAfterCheck } from './judge.ts'

/** Reads the Primary's answer at the verification of an apply from the receipt of its exposure. */
export type FirstAnswer = (receipt: Receipt | undefined) => EdgeAnswer | undefined

interface Statuses {
  find(host: string): HostStatus | undefined
  put(status: HostStatus): void
  remove(host: string): void
}

/** When the exposure was repaired, if nothing happened to it since then. */
export async function repairTime(
  store: Pick<RunStore, 'runsOf'>,
  { planId, state }: Exposure,
): Promise<number | undefined> {
  const run = state === 'applied' ? (await store.runsOf(planId)).at(-1) : undefined
  return run?.action === 'repair' && run.state === 'succeeded' ? run.finishedAt : undefined
}

interface SyncedExposure {
  /** Undefined if the host is not exposed. */
  readonly watched: WatchedHost | undefined
  readonly exposure: Exposure | undefined
  readonly repairedAt: number | undefined
  readonly firstAnswer: FirstAnswer
}

/**
 * Updates one host's status from its exposure, without any check. The verification of an apply or a repair counts as a full check: it
 * has proven entry, records and certificate.
 */
export function syncHost(statuses: Statuses, host: string, synced: SyncedExposure): void {
  const { watched, exposure, firstAnswer } = synced
  const status = statuses.find(host)
  if (!watched) {
    if (status?.managed) statuses.remove(host)
    return
  }
  // A host without a check may have been listed between the commit of its apply and this call.
  if (status?.lastCheck && !isOtherExposure(status, watched)) {
    const present = afterRepair(status, synced)
    const { expiresAt, isBlocked } = watched
    const isSame = status.expiresAt === expiresAt && (status.isBlocked ?? false) === (isBlocked ?? false)
    if (present !== status || !isSame) statuses.put({ ...present, expiresAt, isBlocked })
    return
  }
  statuses.put(pending(watched))
  const answer = exposure?.state === 'applied' ? firstAnswer(exposure.receipt) : undefined
  const unchecked = statuses.find(host)
  if (!answer || !exposure || !unchecked) return
  const fullCheck = provenBy(exposure.receipt)
  statuses.put(statusAfterCheck(unchecked, { answer, ...(fullCheck && { fullCheck }) }, exposure.since))
}

/** Undefined where the Secondary did not answer as the Primary: a full check has to tell what it has. */
function provenBy(receipt: Receipt | undefined): Pick<FullCheck, 'dns' | 'file' | 'secondary'> | undefined {
  const secondary = receipt?.verification?.secondary
  if (secondary && !secondary.ok) return undefined
  return { dns: 'ours', file: 'unchanged', secondary: secondary ? 'in_step' : null }
}

/** The same status, unless a repair has ended since the last check. */
function afterRepair(status: HostStatus, { exposure, repairedAt, firstAnswer }: SyncedExposure): HostStatus {
  const answer = firstAnswer(exposure?.receipt)
  if (repairedAt === undefined || !answer || (status.lastCheck?.at ?? 0) >= repairedAt) return status
  const secondary = exposure?.receipt?.verification?.secondary?.ok ? 'in_step' : null
  return statusAfterCheck(status, { answer, fullCheck: { dns: 'ours', file: 'unchanged', secondary } }, repairedAt)
}

/** True if earlier results for the same name do not apply, because the exposure is another one. */
export const isOtherExposure = (status: HostStatus, { planId, tls }: WatchedHost): boolean =>
  status.planId !== planId || status.tls !== tls
