import type { EdgeAnswer } from '../edge/contract.ts'
import type { HostStatus, WatchedHost } from '../model/host-status.ts'
import type { Receipt } from '../model/receipt.ts'
import type { Exposure } from '../store/ports/exposures.ts'
import { pending, statusAfterCheck } from './judge.ts'

/** Reads the Primary's answer at the verification of an apply from the receipt of its exposure. */
export type FirstAnswer = (receipt: Receipt | undefined) => EdgeAnswer | undefined

interface Statuses {
  find(host: string): HostStatus | undefined
  put(status: HostStatus): void
  remove(host: string): void
}

/**
 * Updates one host's status from its exposure, without any check. `watched` is undefined if the host is not exposed. The
 * verification of an apply counts as the first check of its host.
 */
export function syncHost(
  statuses: Statuses,
  host: string,
  watched: WatchedHost | undefined,
  exposure: Exposure | undefined,
  firstAnswer: FirstAnswer,
): void {
  const status = statuses.find(host)
  if (!watched) {
    if (status?.managed) statuses.remove(host)
    return
  }
  if (status && !isOtherExposure(status, watched)) {
    if (status.expiresAt !== watched.expiresAt) statuses.put({ ...status, expiresAt: watched.expiresAt })
    return
  }
  statuses.put(pending(watched))
  const answer = exposure?.state === 'applied' ? firstAnswer(exposure.receipt) : undefined
  const unchecked = statuses.find(host)
  if (answer && exposure && unchecked) statuses.put(statusAfterCheck(unchecked, { answer }, exposure.since))
}

/** True if earlier results for the same name do not apply, because the exposure is another one. */
export const isOtherExposure = (status: HostStatus, { planId, tls }: WatchedHost): boolean =>
  status.planId !== planId || status.tls !== tls
