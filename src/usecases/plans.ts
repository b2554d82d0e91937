import { Problem } from '../model/errors.ts'
import { isPlanId, type Plan, stateAt } from '../model/exposure.ts'
import type { PlanCursor } from '../store/ports/plans.ts'
import type { Store, StoreReads } from '../store/ports/store.ts'
import { type RunReport, runsOf } from './progress.ts'

interface PlansParts {
  readonly store: Pick<Store, 'findPlan'>
  /** What callers read. Answers from memory while the database is lost, so nothing is decided by it. */
  readonly reads: PlanReads
  readonly now: () => number
}

type PlanReads = Pick<StoreReads, 'findPlan' | 'listPlans' | 'runsOf' | 'readJournal'>

/** The plans that were made, with the state that each has now. */
export class Plans {
  readonly #parts: PlansParts

  constructor(parts: PlansParts) {
    this.#parts = parts
  }

  /** Every caller that knows the id may read the plan. */
  read(planId: string): Promise<Plan> {
    return this.#find(planId, this.#parts.reads)
  }

  /** The plan as the store has it now, for what acts on it. */
  find(planId: string): Promise<Plan> {
    return this.#find(planId, this.#parts.store)
  }

  async #find(planId: string, store: Pick<PlanReads, 'findPlan'>): Promise<Plan> {
    const plan = isPlanId(planId) ? await store.findPlan(planId) : undefined
    if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
    return { ...plan, state: stateAt(plan, this.#parts.now()) }
  }

  /** Every run of a plan, oldest first. */
  runsOf(planId: string): Promise<RunReport[]> {
    return runsOf(this.#parts.reads, planId)
  }

  /** Newest first, those after `before` only. */
  async list(limit: number, before?: PlanCursor): Promise<Plan[]> {
    const { reads, now } = this.#parts
    const at = now()
    return (await reads.listPlans({ limit, before })).map((plan) => ({ ...plan, state: stateAt(plan, at) }))
  }
}
