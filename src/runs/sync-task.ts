import type { Origin } from '../model/run.ts'
import type { Exposure } from '../store/ports/exposures.ts'
import type { Shortfall } from './edge-standings.ts'
import type { Wishes } from './refused-hosts.ts'

/** What a run of converge has to do. */
export interface SyncTask {
  readonly members: readonly Exposure[]
  /** Hosts that it takes off the edge, and the plans of their entries. */
  readonly removes: readonly string[]
  readonly plans: Readonly<Record<string, string>>
  readonly origin: Origin
}

export const wishesOf = ({ members, removes, plans }: SyncTask): Wishes =>
  new Map([
    ...members.map(({ host, planId, receipt }) => [host, `${planId} ${receipt?.certificate?.fingerprint}`] as const),
    ...removes.map((host) => [host, `without ${plans[host]}`] as const),
  ])

/** The command with which a person confirms a removal that was refused. */
export const CONFIRM_REMOVAL = 'drawbridge edge converge --confirm-removal'

export const refusedRemoval = (doubtful: number, entries: number, limit: number): Shortfall => ({
  cause: 'removal_refused',
  sentence:
    `${doubtful} of ${entries} hosts would be taken off the edge, which is more than ${Math.floor(limit)}. ` +
    `If that is right, run "${CONFIRM_REMOVAL}" on the server.`,
})
