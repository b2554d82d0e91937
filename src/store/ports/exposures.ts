import type { PlanState } from '../../model/exposure.ts'
import type { Receipt } from '../../model/receipt.ts'

/** A live exposure. A host has at most one, whatever the plans for it say. */
export interface Exposure {
  readonly host: string
  readonly planId: string
  readonly state: PlanState
  readonly fence: number
  readonly since: number
  /** What the apply created. A removal removes exactly this. Undefined until the apply has succeeded. */
  readonly receipt?: Receipt | undefined
  /** The time from which the service removes the exposure. Undefined: never. */
  readonly expiresAt?: number | undefined
  /** The run that changes the exposure. Until it has ended, no other run may begin. */
  readonly runId?: string | undefined
  /** What nobody has confirmed since the store was restored from a backup, or rebuilt. */
  readonly unconfirmed?: Unconfirmed | undefined
}

/** Which plan shall hold the host, and under which fence it is written. */
export type ExposureClaim = Pick<Exposure, 'host' | 'planId' | 'fence'>

/**
 * `edges`: the edges may have newer runs of the host than the store, so the service does nothing with it by itself. `end`: the edges were
 * compared; whether the end was moved since the backup is known to nobody but its owner, so it is not enforced.
 */
export type Unconfirmed = 'edges' | 'end'

/**
 * Live exposures, at most one per host. Methods that take a fence change nothing and resolve with false when the
 * exposure belongs to another plan, was written under a higher fence, or does not exist. Each is one conditional
 * statement, so it may be repeated and called concurrently.
 */
export interface ExposureStore {
  findExposure(host: string): Promise<Exposure | undefined>
  /**
   * Claims the host for a plan. False when another plan holds the host, or when the same plan holds it under a higher
   * fence. The same plan may claim the host again: a receipt or an end that the new claim leaves out stays as it was.
   */
  insertExposure(exposure: Exposure): Promise<boolean>
  moveExposure(host: string, planId: string, fence: number, to: PlanState, since: number): Promise<boolean>
  deleteExposure(host: string, planId: string, fence: number): Promise<boolean>
  /** Exposures with a host greater than `after`, ordered by host, at most `limit`. `eachExposure` reads all of them. */
  listExposures(page: { readonly after: string; readonly limit: number }): Promise<Exposure[]>
  /** The applied exposures with `expiresAt` <= `now` that is confirmed, the earliest end first. */
  exposuresDue(now: number): Promise<Exposure[]>
  /** Sets or clears the end. False when the plan does not hold the host. */
  setExposureExpiry(host: string, planId: string, expiresAt: number | undefined): Promise<boolean>
  /**
   * Moves the end to a later time, never to an earlier one. False when the exposure is not applied, has no end, or has
   * a later end already. Of concurrent calls the latest end wins.
   */
  prolongExposure(host: string, planId: string, expiresAt: number): Promise<boolean>
  /**
   * Gives the exposure to another plan, with its state, receipt and end, in one statement. False, and nothing is changed, if
   * `former` does not hold the host any more or a higher fence wrote it.
   */
  replaceExposure(former: string, exposure: Exposure): Promise<boolean>
  setExposureReceipt(host: string, planId: string, receipt: Receipt, fence: number): Promise<boolean>
  /** The same for many exposures, with one statement for every 200 of them. Those that refuse stay as they are. */
  setExposureReceipts(given: readonly (ExposureClaim & { readonly receipt: Receipt })[]): Promise<void>
  /** Claims the exposure for a run, under the fence of the run's lease on the host. False when another run has claimed it. */
  claimExposure(host: string, planId: string, runId: string, fence: number): Promise<boolean>
  /** The same for many exposures, with one statement for every 200 of them. Resolves with the hosts that were claimed. */
  claimExposures(given: readonly ExposureClaim[], runId: string): Promise<ReadonlySet<string>>
  /** Confirms what `unconfirmed` says: `edges` leaves the end of those that have one to be confirmed, `end` leaves nothing. */
  confirmExposures(hosts: readonly string[], what: Unconfirmed): Promise<void>
  /** All exposures that a run has claimed, ordered by host. */
  exposuresOf(runId: string): Promise<Exposure[]>
  /** Gives all claims of a run to another run, or ends them. */
  passClaims(runId: string, to: string | undefined): Promise<void>
}

const PAGE_SIZE = 500

/**
 * All exposures, ordered by host, with at most one page of them in memory. An exposure that is inserted or deleted
 * during the iteration may or may not be included.
 */
export async function* eachExposure(store: Pick<ExposureStore, 'listExposures'>): AsyncGenerator<Exposure> {
  for (let after = ''; ; ) {
    const page = await store.listExposures({ after, limit: PAGE_SIZE })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < PAGE_SIZE) return
    after = last.host
  }
}
