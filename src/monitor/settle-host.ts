import type { EdgeAnswer } from '../edge/contract.ts'
import type { HostStatus, WatchedHost } from '../model/host-status.ts'
import type { Exposure } from '../store/ports/exposures.ts'
import { judged, pending } from './judge.ts'

/** What the Primary answered when an apply was verified, by the receipt of its exposure. */
export type FirstAnswer = (receipt: unknown) => EdgeAnswer | undefined

interface Statuses {
  find(host: string): HostStatus | undefined
  put(status: HostStatus): void
  remove(host: string): void
}

/**
 * Brings one host's status in line with its exposure, without a look at the world. `watched` is undefined where nothing
 * is exposed. The verification of an apply is the first check of its host.
 */
export function settleHost(
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
  if (status && !isAnother(status, watched)) {
    if (status.expiresAt !== watched.expiresAt) statuses.put({ ...status, expiresAt: watched.expiresAt })
    return
  }
  statuses.put(pending(watched))
  const answer = exposure?.state === 'applied' ? firstAnswer(exposure.receipt) : undefined
  const unchecked = statuses.find(host)
  if (answer && exposure && unchecked) statuses.put(judged(unchecked, { answer }, exposure.since))
}

/** What was seen under the same name before says nothing about this one. */
export const isAnother = (status: HostStatus, { planId, tls }: WatchedHost): boolean =>
  status.planId !== planId || status.tls !== tls
