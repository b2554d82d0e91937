import type { Plan } from '../model/exposure.ts'
import type { PlanCursor } from './ports/plans.ts'
import type { StoreReads } from './ports/store.ts'

/** The list goes back so far. */
const MOST_LISTED = 200
/** New plans are few between two looks. */
const PLANS_AT_ONCE = 20

/** Which plans are the newest, newest first. */
export class NewestPlans {
  #listed: readonly PlanCursor[] = []

  /** Reads the list up to a page with a plan that is known. Resolves with what it has read. */
  async readOn(listPlans: StoreReads['listPlans']): Promise<{ readonly plan: Plan; readonly isNew: boolean }[]> {
    const found: Plan[] = []
    const listed = new Set(this.#listed.map(({ planId }) => planId))
    while (found.length < MOST_LISTED) {
      const page = await listPlans({ limit: PLANS_AT_ONCE, before: found.at(-1) })
      found.push(...page)
      if (page.length < PLANS_AT_ONCE || page.some(({ planId }) => listed.has(planId))) break
    }
    const isRead = new Set(found.map(({ planId }) => planId))
    const older = this.#listed.filter(({ planId }) => !isRead.has(planId))
    const all = [...found.map(({ createdAt, planId }) => ({ createdAt, planId })), ...older]
    this.#listed = all.toSorted((a, b) => (isOlder(a, b) ? 1 : -1)).slice(0, MOST_LISTED)
    return found.map((plan) => ({ plan, isNew: !listed.has(plan.planId) }))
  }

  /** The ids of a page of it. */
  page({ before, limit }: Parameters<StoreReads['listPlans']>[0]): readonly string[] {
    const older = before ? this.#listed.filter((plan) => isOlder(plan, before)) : this.#listed
    return older.slice(0, limit).map(({ planId }) => planId)
  }
}

const isOlder = (a: PlanCursor, b: PlanCursor): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.planId < b.planId)
