import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditTrail } from '../../audit/trail.ts'
import type { Plan } from '../../model/exposure.ts'
import { type Afters, receiptOf } from '../../model/receipt.ts'
import type { JournalEntry, LeaseGuard, Run } from '../../model/run.ts'
import type { Log } from '../../runtime/log.ts'
import type { Lease } from '../../store/ports/leases.ts'
import { StaleFence } from '../../store/ports/runs.ts'
import type { Store, StoreSession } from '../../store/ports/store.ts'
import type { CrashPoint } from './crash-points.ts'
import { auditActionOf, type Ending, endingOf, eventOf, factsOf, networkOf } from './ending.ts'
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
  readonly stepsFor: (plan: Plan, run: Run, guard: LeaseGuard) => Promise<readonly Step[]>
  readonly instance: string
  /** The lease of a run lives this long after its last renewal. Then another instance may take the run over. */
  readonly leaseMs: number
  readonly crashPoint: CrashPoint
  readonly publish: Publish
  readonly now: () => number
}

/** Called with each journal entry of a run after it is durable. */
export type RunListener = (entry: JournalEntry, run: Run) => void

/** An unfinished run that no instance executes, and its journal. */
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
  readonly afters: Afters
  readonly finishedAt: number
}

/** A run that this instance executes. */
interface Carried {
  readonly plan: Plan
  readonly run: Run
  readonly lease: Lease
  /** An earlier process or another instance began it. */
  readonly recovered: boolean
}

/**
 * The direction of an interrupted run. An apply without a verdict goes back; a removal goes forward unless its journal says
 * that it was going back. So no name ever points at an edge that does not serve it.
 */
export function continuesForward(action: Run['action'], entries: readonly JournalEntry[]): boolean {
  const decided = entries.some(({ mark }) => mark === 'verdict')
  const goingBack = entries.some(({ mark }) => mark === 'failed' || mark === 'undo_intent')
  return decided || (action === 'remove' && !goingBack)
}

/** Executes runs, each under the lease of its host, with a journal. A caller that hangs up does not stop a run. */
export class Runs {
  readonly #parts: RunsParts
  readonly #underWay = new Map<string, Promise<RunResult>>()
  readonly #listeners = new Set<RunListener>()

  readonly leaseMs: number

  constructor(parts: RunsParts) {
    this.#parts = parts
    this.leaseMs = parts.leaseMs
  }

  /** Executes a run whose first transaction (`begin`) is committed. */
  start(plan: Plan, run: Run, lease: Lease): Promise<RunResult> {
    const { crashPoint, stepsFor } = this.#parts
    const { action } = run
    return this.#track({ plan, run, lease, recovered: false }, async (journal, guard) => {
      crashPoint(`${action} run begun`)
      return new Saga({ action, steps: await stepsFor(plan, run, guard), journal, crashPoint }).forward()
    })
  }

  /** Continues a run that a crash interrupted, in the direction of `continuesForward`. `patient`: see Saga. */
  resume({ plan, run, lease, entries, patient }: Left): Promise<RunResult> {
    const { crashPoint, stepsFor } = this.#parts
    const { action } = run
    const goOn = async (journal: Journal, guard: LeaseGuard): Promise<SagaOutcome> => {
      const saga = new Saga({ action, steps: await stepsFor(plan, run, guard), journal, crashPoint, patient })
      if (continuesForward(action, entries)) return saga.forward()
      const fault = new Error('The service ended while the run was in progress.')
      return { ...(await saga.backward()), steps: [], fault }
    }
    return this.#track({ plan, run, lease, recovered: patient }, goOn, entries)
  }

  isUnderWay = (runId: string): boolean => this.#underWay.has(runId)

  /** The number of unfinished runs of this instance. */
  get underWay(): number {
    return this.#underWay.size
  }

  /** Calls the listener with every journal entry of every run of this instance. */
  listen(listener: RunListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Waits until all runs have ended, at most `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    const all = Promise.allSettled(this.#underWay.values())
    await Promise.race([all, sleep(limitMs, undefined, { ref: false })])
  }

  #track(
    carried: Carried,
    work: (journal: Journal, guard: LeaseGuard) => Promise<SagaOutcome>,
    entries: readonly JournalEntry[] = [],
  ): Promise<RunResult> {
    const { run, lease } = carried
    const { store, now, leaseMs, log } = this.#parts
    const held = new HeldLease(store, lease, leaseMs, now)
    const assertHeld = () => held.assertHeld()
    const journal = new Journal({
      store,
      run,
      now,
      onWritten: (entry) => this.#notify(entry, run),
      assertHeld,
      entries,
    })
    const result = work(journal, held)
      .then((outcome) => this.#finish(carried, outcome, journal))
      .catch((error: unknown) => {
        throw error instanceof StaleFence ? new LeaseLost(lease.name) : error
      })
      .finally(() => {
        held.stop()
        this.#underWay.delete(run.runId)
      })
    this.#underWay.set(run.runId, result)
    result.catch((error: unknown) =>
      log.error(
        { event: 'run_unfinished', err: error, runId: run.runId },
        'Run failed to finish; recovery will retry it',
      ),
    )
    return result
  }

  #notify(entry: JournalEntry, run: Run): void {
    for (const listener of this.#listeners) listener(entry, run)
  }

  async #finish(carried: Carried, outcome: SagaOutcome, journal: Journal): Promise<RunResult> {
    const { run } = carried
    const { log, now, crashPoint, publish } = this.#parts
    const finishedAt = now()
    const afters = journal.afters()
    if (outcome.kind !== 'succeeded')
      log.error(
        { event: 'run_failed', err: outcome.fault, runId: run.runId, outcome: outcome.kind },
        'Run did not succeed',
      )
    crashPoint(`${run.action} run before-finish`)
    const book = () => this.#book(carried, outcome, afters, finishedAt)
    const last = await publish(run.host, () => untilStored(book))
    if (last) this.#notify(last, run)
    crashPoint(`${run.action} run after-finish`)
    return { run, outcome, afters, finishedAt }
  }

  /** Stores everything that the end of a run changes, in one transaction. */
  async #book(
    { plan, run, lease, recovered }: Carried,
    outcome: SagaOutcome,
    afters: Afters,
    at: number,
  ): Promise<JournalEntry | undefined> {
    const { store, trail } = this.#parts
    const { planId, host, action, fence, runId } = run
    const ending = endingOf(action, outcome)
    return store.transaction(async (session) => {
      // An earlier attempt, whose answer was lost, may have stored everything.
      if (!(await session.finishRun(runId, ending.run, at, fence))) return undefined
      const image = { state: ending.plan }
      const last = await session.appendJournal({ runId, at, step: 'run', mark: 'done', image }, fence)
      await session.movePlan(planId, ['applying', 'removing', 'blocked'], ending.plan)
      await bookExposure({ plan, run, ending, afters, at }, session)
      await session.releaseLease(lease)
      await session.appendEvent(eventOf(plan, run, outcome, at))
      const audited = { actor: run.actor, network: networkOf(run), action: auditActionOf(run), outcome: ending.audit }
      await trail.record({ at, ...audited, planId, host, facts: factsOf(run, recovered) }, session)
      return last
    })
  }
}

interface ExposureEnd {
  readonly plan: Plan
  readonly run: Run
  readonly ending: Ending
  readonly afters: Afters
  readonly at: number
}

/** What the end of a run changes in its exposure. */
async function bookExposure({ plan, run, ending, afters, at }: ExposureEnd, session: StoreSession): Promise<void> {
  const { planId, host, action, fence } = run
  const { replaces, expiresIn } = plan.request
  const expiresAt = expiresIn === undefined ? undefined : at + expiresIn * 1000
  const succeeded = ending.run === 'succeeded'
  if (action === 'update' && replaces !== undefined) {
    if (!succeeded) await session.moveExposure(host, replaces, fence, ending.exposure ?? 'applied', at)
    else {
      const receipt = receiptOf(afters, (await session.findExposure(host))?.receipt)
      await session.replaceExposure(replaces, { host, planId, state: 'applied', fence, since: at, receipt, expiresAt })
      await session.movePlan(replaces, ['applied'], 'replaced')
    }
    return
  }
  if (ending.exposure === null) await session.deleteExposure(host, planId, fence)
  else await session.moveExposure(host, planId, fence, ending.exposure, at)
  if (action === 'apply' && succeeded) {
    await session.setExposureReceipt(host, planId, receiptOf(afters), fence)
    if (expiresAt !== undefined) await session.setExposureExpiry(host, planId, expiresAt)
  }
}
