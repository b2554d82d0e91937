import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditTrail } from '../../audit/trail.ts'
import type { Plan } from '../../model/exposure.ts'
import type { JournalEntry, Run } from '../../model/run.ts'
import type { Log } from '../../runtime/log.ts'
import type { Lease } from '../../store/ports/leases.ts'
import { StaleFence } from '../../store/ports/runs.ts'
import type { Store } from '../../store/ports/store.ts'
import type { CrashPoint } from './crash-points.ts'
import { auditActionOf, endingOf, eventOf, factsOf, networkOf } from './ending.ts'
import { Journal, untilStored } from './journal.ts'
import { HeldLease, LeaseLost } from './lease.ts'
import { Saga, type SagaOutcome } from './saga.ts'
import type { Step } from './step.ts'

/** Commits a change of a host's exposure; when it resolves, every read of this instance tells the new state. */
export type Publish = <T>(host: string, commit: () => Promise<T>) => Promise<T>

export interface RunsParts {
  readonly store: Store
  readonly trail: AuditTrail
  readonly log: Log
  /** The steps of a run, the same every time it is asked for. */
  readonly stepsFor: (plan: Plan, run: Run) => Promise<readonly Step[]>
  readonly instance: string
  /** How long a run's hold on its host outlives a sign of life: after it another instance may take the run up. */
  readonly leaseMs: number
  readonly crashPoint: CrashPoint
  readonly publish: Publish
  readonly now: () => number
}

/** Hears of each entry of a run's journal once it is durable. */
export type RunListener = (entry: JournalEntry, run: Run) => void

/** A run that somebody left behind, and what its journal holds. */
export interface Left {
  readonly plan: Plan
  readonly run: Run
  readonly lease: Lease
  readonly entries: readonly JournalEntry[]
  readonly patient: boolean
}

export interface RunResult {
  readonly run: Run
  readonly outcome: SagaOutcome
  readonly afters: ReadonlyMap<string, unknown>
  readonly finishedAt: number
}

/** A run in the hands of this instance. */
interface Carried {
  readonly plan: Plan
  readonly run: Run
  readonly lease: Lease
  /** Another life of this instance, or another instance, began it. */
  readonly recovered: boolean
}

/** Carries out runs: each under its host's lease, journalled, brought to an end whatever happens. Callers may hang up. */
export class Runs {
  readonly #parts: RunsParts
  readonly #underWay = new Map<string, Promise<RunResult>>()
  readonly #listeners = new Set<RunListener>()

  readonly leaseMs: number

  constructor(parts: RunsParts) {
    this.#parts = parts
    this.leaseMs = parts.leaseMs
  }

  /** Begins a run whose first transaction is done. */
  start(plan: Plan, run: Run, lease: Lease): Promise<RunResult> {
    const { crashPoint, stepsFor } = this.#parts
    const { action } = run
    return this.#track({ plan, run, lease, recovered: false }, async (journal) => {
      crashPoint(`${action} run begun`)
      return new Saga({ action, steps: await stepsFor(plan, run), journal, crashPoint }).forward()
    })
  }

  /**
   * Takes up a run that a crash left behind. An apply without a verdict goes back, everything else forward: a half-raised
   * bridge is raised, so that never a name stands without a server behind it. `patient`: see Saga.
   */
  resume({ plan, run, lease, entries, patient }: Left): Promise<RunResult> {
    const { crashPoint, stepsFor } = this.#parts
    const { action } = run
    const goOn = async (journal: Journal): Promise<SagaOutcome> => {
      const saga = new Saga({ action, steps: await stepsFor(plan, run), journal, crashPoint, patient })
      const decided = entries.some(({ mark }) => mark === 'verdict')
      const turnedRound = entries.some(({ mark }) => mark === 'failed' || mark === 'undo_intent')
      if (decided || (action === 'remove' && !turnedRound)) return saga.forward()
      const fault = new Error('the service ended while the run was under way')
      return { ...(await saga.backward()), steps: [], fault }
    }
    return this.#track({ plan, run, lease, recovered: patient }, goOn, entries)
  }

  isUnderWay = (runId: string): boolean => this.#underWay.has(runId)

  /** How many runs of this instance have not ended. */
  get underWay(): number {
    return this.#underWay.size
  }

  /** Hears every journal entry of every run of this instance. */
  listen(listener: RunListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Waits for the runs under way, at most so long. */
  async drain(limitMs: number): Promise<void> {
    const all = Promise.allSettled(this.#underWay.values())
    await Promise.race([all, sleep(limitMs, undefined, { ref: false })])
  }

  #track(
    carried: Carried,
    work: (journal: Journal) => Promise<SagaOutcome>,
    entries: readonly JournalEntry[] = [],
  ): Promise<RunResult> {
    const { run, lease } = carried
    const { store, now, leaseMs, log } = this.#parts
    const held = new HeldLease(store, lease, leaseMs, now)
    const assertHeld = () => held.assertHeld()
    const journal = new Journal({ store, run, now, tell: (entry) => this.#tell(entry, run), assertHeld, entries })
    const result = work(journal)
      .then((outcome) => this.#finish(carried, outcome, journal))
      .catch((error: unknown) => {
        throw error instanceof StaleFence ? new LeaseLost(lease.name) : error
      })
      .finally(() => {
        held.stop()
        this.#underWay.delete(run.runId)
      })
    this.#underWay.set(run.runId, result)
    result.catch((error: unknown) => log.error({ err: error, runId: run.runId }, 'A run has no end yet'))
    return result
  }

  #tell(entry: JournalEntry, run: Run): void {
    for (const listener of this.#listeners) listener(entry, run)
  }

  async #finish(carried: Carried, outcome: SagaOutcome, journal: Journal): Promise<RunResult> {
    const { run } = carried
    const { log, now, crashPoint, publish } = this.#parts
    const finishedAt = now()
    const afters = journal.afters()
    if (outcome.kind !== 'succeeded')
      log.error({ err: outcome.fault, runId: run.runId, outcome: outcome.kind }, 'A run did not succeed')
    crashPoint(`${run.action} run before-finish`)
    const book = () => this.#book(carried, outcome, afters, finishedAt)
    const last = await publish(run.host, () => untilStored(book))
    if (last) this.#tell(last, run)
    crashPoint(`${run.action} run after-finish`)
    return { run, outcome, afters, finishedAt }
  }

  /** All that a run's end changes in the books, at once. */
  async #book(
    { plan, run, lease, recovered }: Carried,
    outcome: SagaOutcome,
    afters: ReadonlyMap<string, unknown>,
    at: number,
  ): Promise<JournalEntry | undefined> {
    const { store, trail } = this.#parts
    const { planId, host, action, fence, runId } = run
    const ending = endingOf(action, outcome)
    return store.transaction(async (session) => {
      // An attempt whose answer was lost may have booked it all.
      if (!(await session.finishRun(runId, ending.run, at, fence))) return undefined
      const image = { state: ending.plan }
      const last = await session.appendJournal({ runId, at, step: 'run', mark: 'done', image }, fence)
      await session.movePlan(planId, ['applying', 'removing', 'blocked'], ending.plan)
      if (ending.exposure === null) await session.deleteExposure(host, planId, fence)
      else await session.moveExposure(host, planId, fence, ending.exposure, at)
      if (action === 'apply' && ending.exposure === 'applied') {
        await session.setExposureReceipt(host, planId, Object.fromEntries(afters), fence)
        if (plan.request.expiresIn) await session.setExposureExpiry(host, planId, at + plan.request.expiresIn * 1000)
      }
      await session.releaseLease(lease)
      await session.appendEvent(eventOf(plan, run, outcome, at))
      const audited = { actor: run.actor, network: networkOf(run), action: auditActionOf(run), outcome: ending.audit }
      await trail.record({ at, ...audited, planId, host, facts: factsOf(run, recovered) }, session)
      return last
    })
  }
}
