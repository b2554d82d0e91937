import type { PlanState } from '../../model/exposure.ts'

/** A live exposure: at most one per host, whatever the plans say. */
export interface Exposure {
  readonly host: string
  readonly planId: string
  readonly state: PlanState
  readonly fence: number
  readonly since: number
  /** What the apply created, and so what its removal removes. JSON. */
  readonly receipt?: unknown
  /** When the exposure removes itself. */
  readonly expiresAt?: number | undefined
}

/** Live exposures, at most one per host. Every write carries the fence of the run that makes it. */
export interface ExposureStore {
  findExposure(host: string): Promise<Exposure | undefined>
  /**
   * False when another plan holds the host already, or its own plan does under a higher fence. Its own plan may claim it
   * again, and what it then leaves out of receipt and end stays as it was.
   */
  insertExposure(exposure: Exposure): Promise<boolean>
  /** Changes nothing (false) when the exposure belongs to another plan or was written under a higher fence. */
  moveExposure(host: string, planId: string, fence: number, to: PlanState, since: number): Promise<boolean>
  deleteExposure(host: string, planId: string, fence: number): Promise<boolean>
  /** By host, at most `limit`, those after a host only. All of them: `eachExposure`. */
  listExposures(page: { readonly after: string; readonly limit: number }): Promise<Exposure[]>
  /** The applied ones whose life is over at `now`, longest over first. */
  exposuresDue(now: number): Promise<Exposure[]>
  /** False when the plan no longer holds the host. */
  setExposureExpiry(host: string, planId: string, expiresAt: number | undefined): Promise<boolean>
  /** One conditional statement decides: false when the plan is not applied, has no end, or ends later already. Never shortens. */
  prolongExposure(host: string, planId: string, expiresAt: number): Promise<boolean>
  /** False like `moveExposure`. */
  setExposureReceipt(host: string, planId: string, receipt: unknown, fence: number): Promise<boolean>
}

const AT_ONCE = 500

/** All exposures by host, never many of them in memory. One that comes or goes meanwhile may be met or not. */
export async function* eachExposure(store: Pick<ExposureStore, 'listExposures'>): AsyncGenerator<Exposure> {
  for (let after = ''; ; ) {
    const page = await store.listExposures({ after, limit: AT_ONCE })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < AT_ONCE) return
    after = last.host
  }
}
