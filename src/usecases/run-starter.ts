import type { Admission, Credentials } from '../authorize/admission.ts'
import { type Caller, who } from '../authorize/caller.ts'
import type { CapabilityAction } from '../model/capability.ts'
import { Problem } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import { hostLease, type Origin, type RunAction, type RunTask, runOfHolder } from '../model/run.ts'
import type { PlanSettings } from '../plan/settings.ts'
import type { Clock } from '../primitives/clock.ts'
import { poll } from '../primitives/retry.ts'
import type { Place } from '../runs/edge-availability.ts'
import { assertMayBegin, type Carried } from '../runs/engine/begin.ts'
import { problemOf, type RunResult } from '../runs/engine/ending.ts'
import type { Runs } from '../runs/engine/runs.ts'
import type { Store, StoreSession } from '../store/ports/store.ts'
import type { Plans } from './plans.ts'

export interface StarterParts {
  readonly settings: PlanSettings
  readonly plans: Pick<Plans, 'find'>
  readonly store: Store
  readonly admission: Admission
  readonly runs: Runs
  /** Throws where adopting is off. */
  readonly assertAdopting: () => void
  /** Throws if this installation has no edge or no DNS key for the zone. */
  readonly assertEquipped: (zone: string) => void
  /** Where a run can be executed now: here, or by another instance. A problem: nowhere. */
  readonly place: () => Promise<Place | Problem>
  readonly clock: Clock
}

/** A run that has begun. It continues even if nobody waits for `result`. */
export interface Started {
  readonly plan: Plan
  readonly result: Promise<RunResult>
}

/** Begins the runs that callers ask for. */
export class RunStarter {
  readonly #parts: StarterParts

  constructor(parts: StarterParts) {
    this.#parts = parts
  }

  async run(
    action: CapabilityAction,
    planId: string,
    caller: Caller,
    credentials: Credentials,
    task?: RunTask,
  ): Promise<Started> {
    const { settings, store, admission, clock } = this.#parts
    const [plan, place] = await Promise.all([this.#parts.plans.find(planId), this.#parts.place()])
    const beginOnce = () =>
      store.transaction(async (session) => {
        const adopts = action === 'apply' && plan.request.adopt !== undefined
        const right = await admission.prove(adopts ? 'adopt' : action, plan, caller, credentials, session, clock.now())
        if (plan.state === 'expired') throw expired(plan)
        assertMayBegin(runActionOf(action, plan), plan)
        if (adopts) this.#parts.assertAdopting()
        if (place instanceof Problem) throw place
        assertManaged(plan.request.zone, settings)
        if (place === 'here') this.#parts.assertEquipped(plan.request.zone)
        const origin = { ...who(caller), right }
        return this.begin(runActionOf(action, plan), plan, origin, session, { task, place })
      })
    return this.start(plan, await this.afterConverge(plan.host, beginOnce))
  }

  /** Proves the right in a transaction that is rolled back, so that it is not spent. */
  async assertRight(action: CapabilityAction, plan: Plan, caller: Caller, credentials: Credentials): Promise<void> {
    const { store, admission, clock } = this.#parts
    const proved = store.transaction(async (session) => {
      await admission.prove(action, plan, caller, credentials, session, clock.now())
      throw new Proved()
    })
    await proved.catch((fault: unknown) => {
      if (!(fault instanceof Proved)) throw fault
    })
  }

  /** A converge holds a host only while its edge reloads. Callers wait for that instead of being refused. */
  async afterConverge(host: string, beginOnce: () => Promise<Carried>): Promise<Carried> {
    const attempt = async () =>
      beginOnce().catch(async (fault: unknown) => {
        const isHeld = fault instanceof Problem && fault.code === 'plan_busy' && (await this.#isConverged(host))
        if (!isHeld) throw fault
        return fault
      })
    const begun = await poll(attempt, (outcome) => !(outcome instanceof Problem), {
      ...CONVERGE_PATIENCE,
      clock: this.#parts.clock,
    })
    if (begun instanceof Problem) throw begun
    return begun
  }

  /** A host that a converge changes is claimed by its run. One that it takes off has no exposure, but a lease. */
  async #isConverged(host: string): Promise<boolean> {
    const { store, clock } = this.#parts
    const [exposure, lease] = await Promise.all([
      store.findExposure(host),
      store.findLease(hostLease(host), clock.now()),
    ])
    const runId = exposure?.runId ?? (lease && runOfHolder(lease.holder))
    const run = runId === undefined ? undefined : await store.findRun(runId)
    return run?.action === 'converge'
  }

  begin(
    action: RunAction,
    plan: Plan,
    origin: Origin,
    session: StoreSession,
    { task, place = 'here' }: { readonly task?: RunTask | undefined; readonly place?: Place } = {},
  ): Promise<Carried> {
    return this.#parts.runs.begin({ action, plan, task, origin, handsOver: place === 'elsewhere' }, session)
  }

  start(plan: Plan, begun: Carried): Started {
    return { plan, result: this.#parts.runs.start(begun) }
  }
}

const CONVERGE_PATIENCE = { firstMs: 25, factor: 1.5, longestMs: 500, withinMs: 10_000 }

/** The result of a run that succeeded. Throws the problem for the caller of one that did not. */
export async function succeeded({ plan, result }: Started): Promise<RunResult> {
  const done = await result
  if (done.outcome.kind === 'succeeded') return done
  throw problemOf(done.run.action, plan.host, done.outcome)
}

/** The zone may have been removed from the configuration since the plan was made. */
function assertManaged(zone: string, { zones }: PlanSettings): void {
  if (!zones.has(zone)) throw new Problem('zone_not_managed', `Zone ${zone} is not managed here any more.`)
}

export const expired = (plan: Plan): Problem =>
  new Problem('plan_expired', `The plan expired at ${new Date(plan.expiresAt).toISOString()}.`)

/** To apply a plan that replaces another one is to update its exposure. */
function runActionOf(action: CapabilityAction, { request }: Plan): RunAction {
  if (action === 'release') return 'accept'
  if (action === 'adopt') return 'apply'
  return action === 'apply' && request.replaces !== undefined ? 'update' : action
}

/** The right was proved. The transaction that spent it is rolled back. */
class Proved extends Error {}
