import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditTrail } from '../audit/trail.ts'
import type { Log } from '../log.ts'
import type { Plan } from '../model/exposure.ts'
import type { JournalEntry, Run } from '../model/run.ts'
import { type Lease, StaleFence, type Store, StoreUnavailable } from '../store/contract.ts'
import type { Reach } from './crash-points.ts'
import { endingOf } from './ending.ts'
import { Journal, type JournalListener } from './journal.ts'
import { Saga, type SagaOutcome } from './saga.ts'
import type { Step } from './step.ts'

export const LEASE_MS = 30_000
const RENEW_MS = 8_000

export interface RunsParts {
  readonly store: Store
  readonly trail: AuditTrail
  readonly log: Log
  /** The steps of a run, the same every time it is asked for. */
  readonly stepsFor: (plan: Plan, run: Run) => Promise<readonly Step[]>
  readonly instance: string
  readonly reach: Reach
  readonly now: () => number
}

export interface RunResult {
  readonly run: Run
  readonly outcome: SagaOutcome
  readonly afters: ReadonlyMap<string, unknown>
  readonly finishedAt: number
}

/** Carries out runs: each under its host's lease, journalled, brought to an end whatever happens. Callers may hang up. */
export class Runs {
  readonly #parts: RunsParts
  readonly #underWay = new Map<string, Promise<RunResult>>()
  readonly #listeners = new Set<JournalListener>()

  constructor(parts: RunsParts) {
    this.#parts = parts
  }

  /** Begins a run whose first transaction is done. */
  start(plan: Plan, run: Run, lease: Lease): Promise<RunResult> {
    return this.#track(plan, run, lease, async (journal) => {
      const steps = await this.#parts.stepsFor(plan, run)
      return new Saga(run.action, steps, journal, this.#parts.reach).forward()
    })
  }

  /**
   * Takes up a run that a crash left behind. An apply without a verdict goes back, everything else forward: a half-raised
   * bridge is raised, so that never a name stands without a server behind it.
   */
  resume(plan: Plan, run: Run, lease: Lease, entries: readonly JournalEntry[]): Promise<RunResult> {
    return this.#track(
      plan,
      run,
      lease,
      async (journal) => {
        const steps = await this.#parts.stepsFor(plan, run)
        const saga = new Saga(run.action, steps, journal, this.#parts.reach)
        const decided = entries.some(({ mark }) => mark === 'verdict')
        const turnedRound = entries.some(({ mark }) => mark === 'failed' || mark === 'undo_intent')
        if (decided || (run.action === 'remove' && !turnedRound)) return saga.forward()
        const fault = new Error('the service ended while the run was under way')
        return { ...(await saga.backward()), steps: [], fault }
      },
      entries,
    )
  }

  isUnderWay = (runId: string): boolean => this.#underWay.has(runId)

  /** Hears every journal entry of every run of this instance. */
  listen(listener: JournalListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Waits for the runs under way, at most so long. */
  async drain(limitMs: number): Promise<void> {
    const all = Promise.allSettled(this.#underWay.values())
    await Promise.race([all, sleep(limitMs, undefined, { ref: false })])
  }

  #track(
    plan: Plan,
    run: Run,
    lease: Lease,
    work: (journal: Journal) => Promise<SagaOutcome>,
    entries: readonly JournalEntry[] = [],
  ): Promise<RunResult> {
    const { store, now } = this.#parts
    const journal = new Journal(store, run, now, (entry) => this.#tell(entry), entries)
    const beat = setInterval(() => void store.renewLease(lease, now(), LEASE_MS).catch(() => undefined), RENEW_MS)
    const result = work(journal)
      .then((outcome) => this.#finish(plan, run, lease, outcome, journal))
      .finally(() => {
        clearInterval(beat)
        this.#underWay.delete(run.runId)
      })
    this.#underWay.set(run.runId, result)
    result.catch((error: unknown) => this.#parts.log.error({ err: error, runId: run.runId }, 'A run has no end yet'))
    return result
  }

  #tell(entry: JournalEntry): void {
    for (const listener of this.#listeners) listener(entry)
  }

  async #finish(plan: Plan, run: Run, lease: Lease, outcome: SagaOutcome, journal: Journal): Promise<RunResult> {
    const { log, now, reach } = this.#parts
    const finishedAt = now()
    const afters = journal.afters()
    if (outcome.kind !== 'succeeded')
      log.error({ err: outcome.fault, runId: run.runId, outcome: outcome.kind }, 'A run did not succeed')
    reach(`${run.action} run before-finish`)
    const last = await this.#insistently(() => this.#book(plan, run, lease, outcome, afters, finishedAt))
    if (last) this.#tell(last)
    reach(`${run.action} run after-finish`)
    return { run, outcome, afters, finishedAt }
  }

  /** All that a run's end changes in the books, at once. */
  async #book(
    { request }: Plan,
    run: Run,
    lease: Lease,
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
        if (request.expiresIn) await session.setExposureExpiry(host, planId, at + request.expiresIn * 1000)
      }
      await session.releaseLease(lease)
      await trail.record(
        { at, actor: run.actor, network: networkOf(run), action, outcome: ending.audit, planId, host },
        session,
      )
      return last
    })
  }

  /** A store that comes back within its patience loses nothing; otherwise recovery ends the run later. */
  async #insistently<T>(work: () => Promise<T>): Promise<T> {
    for (let pause = 100; ; pause *= 2) {
      try {
        return await work()
      } catch (error) {
        if (error instanceof StaleFence || !(error instanceof StoreUnavailable) || pause > 3_000) throw error
        await sleep(pause)
      }
    }
  }
}

const networkOf = ({ actor }: Run): 'internal' | 'self' => (actor === 'drawbridge' ? 'self' : 'internal')
