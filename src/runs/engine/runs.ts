import type { AuditTrail } from '../../audit/trail.ts'
import { isFenced } from '../../edge/contract/fault.ts'
import type { Problem } from '../../model/errors.ts'
import {
  hostLease,
  hostOfLease,
  type JournalEntry,
  type Run,
  type RunGuard,
  type RunTask,
  STEPS_OF,
} from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { Log } from '../../runtime/log.ts'
import type { Lease } from '../../store/ports/leases.ts'
import { StaleFence } from '../../store/ports/runs.ts'
import type { Store } from '../../store/ports/store.ts'
import { type Beginning, type BeginSession, begin, type Carried } from './begin.ts'
import { bookExposures, bookResolved } from './booking.ts'
import type { CrashPoint } from './crash-points.ts'
import { auditActionOf, type Ended, endingOf, eventOf, factsOf, hostsOf, type RunResult, storedEnd } from './ending.ts'
import { Journal, untilStored } from './journal.ts'
import { HeldLeases, LeaseLost } from './lease.ts'
import { StepLimit } from './limits.ts'
import { RunEnds } from './run-ends.ts'
import { Saga, type SagaOutcome } from './saga.ts'
import type { Step } from './step.ts'

/** Commits a change of a host's exposure; when it resolves, every read of this instance tells the new state. */
export type Publish = <T>(host: string, commit: () => Promise<T>) => Promise<T>

export interface RunsParts {
  readonly store: Store
  readonly trail: AuditTrail
  readonly log: Log
  /** The steps of a run, the same every time it is asked for. */
  readonly stepsFor: (carried: Carried, guard: RunGuard) => Promise<readonly Step[]>
  /**
   * Makes the edges refuse what a former holder of the run has sent and what has not arrived. Called when a run is taken over, before
   * anything that an edge says counts. Rejects if an edge that decides cannot be told.
   */
  readonly raiseFences: (fences: RunGuard['fences']) => Promise<void>
  readonly instance: string
  /** The lease of a run lives this long after its last renewal. Then another instance may take the run over. */
  readonly leaseMs: number
  readonly crashPoint: CrashPoint
  readonly publish: Publish
  readonly clock: Clock
}

type Work = (under: {
  readonly journal: Journal
  readonly guard: RunGuard
  readonly limit: StepLimit
  readonly confirmHeld: () => Promise<void>
}) => Promise<SagaOutcome>

/** Called with each journal entry of a run after it is durable. */
export type RunListener = (entry: JournalEntry, run: Run) => void

/** An interrupted run. `patient`: see Saga. */
export interface Left extends Carried {
  readonly entries: readonly JournalEntry[]
  readonly patient: boolean
  /** Nothing of it was done yet: it goes forward. */
  readonly isFresh?: boolean
}

/**
 * The direction of an interrupted run. A run with a verdict goes forward, and one that still needs it goes back. A run that has
 * no such step (remove, accept) goes forward unless its journal says that it was going back. So no name ever points at an
 * edge that does not serve it.
 */
export function continuesForward(action: Run['action'], entries: readonly JournalEntry[]): boolean {
  const decided = entries.some(({ mark }) => mark === 'verdict')
  const goingBack = entries.some(({ mark }) => mark === 'failed' || mark === 'undo_intent')
  return decided || (!STEPS_OF[action].includes('verify') && !goingBack)
}

/** What the run was told, from the first entry of its journal. */
export const taskIn = (entries: readonly JournalEntry[]): RunTask =>
  (entries.find(({ step, mark }) => step === 'run' && mark === 'intent')?.image ?? {}) as RunTask

/** Executes runs, each under the lease of its host, with a journal. A caller that hangs up does not stop a run. */
export class Runs {
  readonly #parts: RunsParts
  readonly #underWay = new Map<string, Promise<RunResult>>()
  readonly #taking = new Set<string>()
  /** The runs of other instances that callers of this one wait for. */
  readonly #elsewhere = new Set<Promise<RunResult>>()
  readonly #ends: RunEnds
  readonly #listeners = new Set<RunListener>()

  readonly leaseMs: number

  constructor(parts: RunsParts) {
    this.#parts = parts
    this.#ends = new RunEnds(parts.store, parts.clock)
    this.leaseMs = parts.leaseMs
  }

  /** Begins a run in the caller's transaction. When that is committed, the caller starts the run. */
  begin(beginning: Beginning, session: BeginSession): Promise<Carried> {
    const { instance, leaseMs, clock } = this.#parts
    return begin({ ...beginning, instance, leaseMs, at: clock.now() }, session)
  }

  /** Executes a run whose first transaction (`begin`) is committed, or waits until the instance that takes it up has. */
  start(carried: Carried): Promise<RunResult> {
    const { crashPoint, stepsFor, clock } = this.#parts
    const { action } = carried.run
    if (carried.task.handedOver) return this.#waitFor(carried.run)
    return this.#track(carried, false, async ({ journal, guard, limit, confirmHeld }) => {
      crashPoint(`${action} run begun`)
      const steps = await stepsFor(carried, guard)
      return new Saga({ action, steps, journal, crashPoint, limit, clock, confirmHeld }).forward()
    })
  }

  /** Continues a run that a crash interrupted, in the direction of `continuesForward`. `patient`: see Saga. */
  resume({ entries, patient, isFresh = false, ...carried }: Left): Promise<RunResult> {
    const { crashPoint, stepsFor, raiseFences, clock } = this.#parts
    const { action } = carried.run
    const goOn: Work = async ({ journal, guard, limit, confirmHeld }) => {
      const refused = await raiseFences(guard.fences).then(
        () => undefined,
        (fault: unknown) => {
          if (isFenced(fault)) return { fault }
          throw fault
        },
      )
      if (isFresh && !refused) crashPoint(`${action} run begun`)
      const steps = await stepsFor(carried, guard)
      const saga = new Saga({ action, steps, journal, crashPoint, patient, limit, clock, confirmHeld })
      if (refused) return saga.refusedByEdge(refused.fault)
      if (isFresh || continuesForward(action, entries)) return saga.forward()
      const fault = new Error('The service ended while the run was in progress.')
      return { ...(await saga.backward()), steps: [], fault }
    }
    return this.#track(carried, patient, goOn, entries)
  }

  /** Ends a run of which nothing was done. */
  giveUp({ entries, ...carried }: Omit<Left, 'patient'>, fault: Problem): Promise<RunResult> {
    const nothing = { kind: 'rolled_back', steps: [], rollback: [], fault } as const
    return this.#track(carried, false, async () => nothing, entries)
  }

  isUnderWay = (runId: string): boolean => this.#underWay.has(runId)

  /** While `work` takes a run, nothing else of this instance does: it would get the same leases. */
  async taking<T>(runId: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.isUnderWay(runId) || this.#taking.has(runId)) return undefined
    this.#taking.add(runId)
    return work().finally(() => this.#taking.delete(runId))
  }

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
    const all = Promise.allSettled([...this.#underWay.values(), ...this.#elsewhere])
    await Promise.race([all, this.#parts.clock.sleep(limitMs, { ref: false })])
  }

  /** When the promise resolves, every read of this instance tells the new state, as after a run of its own. */
  #waitFor(run: Run): Promise<RunResult> {
    const result = this.#ends.of(run).then((end) => this.#parts.publish(run.host, async () => end))
    this.#elsewhere.add(result)
    result.catch(() => undefined).finally(() => this.#elsewhere.delete(result))
    return result
  }

  #track(carried: Carried, recovered: boolean, work: Work, entries: readonly JournalEntry[] = []): Promise<RunResult> {
    const { run, leases } = carried
    const { store, clock, leaseMs, log } = this.#parts
    const held = new HeldLeases(store, leases.slice(0, 1), leaseMs, clock)
    const ensureHeld = () => held.ensureHeld()
    const journal = new Journal({
      store,
      run,
      now: clock.now,
      onWritten: (entry) => this.#notify(entry, run),
      ensureHeld,
      entries,
    })
    const limit = new StepLimit(clock, Math.max(1, leases.length))
    const guarded = async () => {
      const [epoch, id] = await untilStored(() => Promise.all([store.epoch(), store.storeId()]), clock)
      const fences = leases.map(({ name, fence: number }) => ({ host: hostOfLease(name), epoch, number, store: id }))
      const guard: RunGuard = {
        assertHeld: () => held.assertHeld(),
        ensureHeld,
        fences,
        run: { run: run.runId, store: id },
        get leftMs() {
          return held.leftMs
        },
        get signal() {
          return limit.signal
        },
      }
      return work({ journal, guard, limit, confirmHeld: () => held.confirmHeld() })
    }
    const result = guarded()
      .then((outcome) => this.#finish(carried, recovered, outcome, journal))
      .catch((error: unknown) => {
        throw error instanceof StaleFence ? new LeaseLost(hostLease(run.host)) : error
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

  async #finish(carried: Carried, recovered: boolean, outcome: SagaOutcome, journal: Journal): Promise<RunResult> {
    const { run } = carried
    const { store, log, clock, crashPoint, publish } = this.#parts
    const finishedAt = clock.now()
    const afters = journal.afters()
    if (outcome.kind !== 'succeeded')
      log.error(
        { event: 'run_failed', err: outcome.fault, runId: run.runId, outcome: outcome.kind },
        'Run did not succeed',
      )
    crashPoint(`${run.action} run before-finish`)
    const members = await untilStored(() => store.exposuresOf(run.runId), clock)
    const ended: Ended = { ...carried, outcome, afters, members, recovered, at: finishedAt }
    const hosts = hostsOf(run, members)
    const last = await publish(run.host, () => untilStored(() => this.#book(ended, carried.leases), clock))
    if (last) this.#notify(last, run)
    crashPoint(`${run.action} run after-finish`)
    return { run, outcome, afters, hosts, finishedAt }
  }

  /** Stores everything that the end of a run changes, in one transaction. */
  async #book(ended: Ended, leases: readonly Lease[]): Promise<JournalEntry | undefined> {
    const { store, trail } = this.#parts
    const { plan, run, task, outcome, at } = ended
    const { planId, host, action, fence, runId } = run
    const ending = endingOf(action, outcome, task)
    return store.transaction(async (session) => {
      // An earlier attempt, whose answer was lost, may have stored everything.
      if (!(await session.finishRun(runId, ending.run, at, fence))) return undefined
      const image = { state: ending.plan ?? plan.state, ...(task.handedOver && { end: storedEnd(ended) }) }
      const last = await session.appendJournal({ runId, at, step: 'run', mark: 'done', image }, fence)
      if (ending.plan) await session.movePlan(planId, ['applied', 'applying', 'removing', 'blocked'], ending.plan)
      if (ending.run === 'succeeded') await bookResolved(run, task, session)
      await bookExposures(ended, ending, leases, session)
      // A blocked run keeps its claims: nobody changes its hosts until it is resolved.
      if (ending.run !== 'blocked')
        await session.passClaims(runId, ending.run === 'rolled_back' ? task.resolves : undefined)
      await session.releaseLeases(leases)
      const event = eventOf(ended)
      if (event) await session.appendEvent(event)
      const audited = { actor: run.actor, network: run.network, action: auditActionOf(ended), outcome: ending.audit }
      await trail.record({ at, ...audited, planId, host, facts: factsOf(ended) }, session)
      return last
    })
  }
}
