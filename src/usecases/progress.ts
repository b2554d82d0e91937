import { Problem } from '../model/errors.ts'
import type { Verification } from '../model/receipt.ts'
import type { JournalEntry, JournalMark, Run } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import { SharedPoll, WakeUp } from '../primitives/followers.ts'
import type { ChangeFeed } from '../store/ports/events.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunProgress, RunStore } from '../store/ports/runs.ts'

/** One entry of a run's journal, as callers see it. A follower that reconnects sends the last `id` it got. */
export interface ProgressEvent {
  readonly id: string
  readonly name: 'started' | 'done' | 'failed' | 'undoing' | 'undone' | 'undo_failed' | 'end'
  readonly action: Run['action']
  readonly step: string
  readonly at: string
  readonly detail?: string
  readonly state?: string
  /** What the edges answered. Only on the step that verifies them. */
  readonly verification?: Verification
}

const NAMES: Record<JournalMark, ProgressEvent['name']> = {
  intent: 'started',
  done: 'done',
  verdict: 'done',
  failed: 'failed',
  undo_intent: 'undoing',
  undone: 'undone',
  undo_failed: 'undo_failed',
}

/** A run, all its events, and the status of each of its steps. */
export interface RunReport {
  readonly run: Run
  readonly events: readonly ProgressEvent[]
  readonly steps: readonly { readonly name: string; readonly status: string; readonly detail?: string }[]
}

/** The queries that this file needs. None of them writes. */
type Journals = Pick<RunStore, 'runsOf' | 'readJournal'>
type PlanJournals = Journals & Pick<RunStore, 'newestRuns'> & Pick<PlanStore, 'findPlan'>

/** The runs that this instance executes. */
interface RunsUnderWay {
  isUnderWay(runId: string): boolean
  /** Calls `listener` after every journal entry of a run of this instance. */
  listen(listener: (entry: JournalEntry, run: Run) => void): void
}

/** All runs of a plan, oldest first. */
export const runsOf = async (store: Journals, planId: string): Promise<RunReport[]> =>
  Promise.all((await store.runsOf(planId)).map((run) => reportOf(store, run)))

async function reportOf(store: Journals, run: Run): Promise<RunReport> {
  const entries = await store.readJournal(run.runId, 0)
  const newest = new Map(entries.filter(({ step }) => step !== 'run').map((entry) => [entry.step, entry]))
  const steps = [...newest.values()].map(({ step, mark, detail }) => ({
    name: step,
    status: NAMES[mark],
    ...(detail !== undefined && { detail }),
  }))
  return { run, steps, events: entries.map((entry) => eventOf(run, entry)) }
}

/** One query for all followers finds the progress of runs of other instances. The longer time counts while commits are told. */
const POLL_MS = 500
const TOLD_POLL_MS = 1_000

/** Follows the journal of a plan's newest run, whichever instance executes the run. */
export class PlanProgress {
  readonly #store: PlanJournals
  readonly #runs: RunsUnderWay
  readonly #followed = new Map<string, FollowedPlan>()
  readonly #poll: SharedPoll
  readonly #listeners = new Set<(planId: string) => void>()
  /** The runs of this instance that were announced and have not ended. */
  readonly #begun = new Set<string>()
  #closing = false

  constructor(store: PlanJournals, runs: RunsUnderWay, clock: Clock, changes?: ChangeFeed) {
    this.#store = store
    this.#runs = runs
    this.#poll = new SharedPoll(
      () => (changes?.isWatching() ? TOLD_POLL_MS : POLL_MS),
      () => this.#refreshChanged(),
      clock,
    )
    changes?.watch(() => this.#poll.soon())
    runs.listen((entry, { planId, runId }) => {
      void this.#followed
        .get(planId)
        ?.refresh()
        .catch(() => undefined)
      const isEnd = entry.step === 'run' && entry.mark === 'done'
      if (!isEnd && this.#begun.has(runId)) return
      if (isEnd) this.#begun.delete(runId)
      else this.#begun.add(runId)
      this.announce(planId)
    })
  }

  /**
   * Yields the events after `lastId` until the run ends or `signal` aborts. For a plan without a run it waits for the
   * run to begin. Rejects when the plan does not exist.
   */
  async follow(
    planId: string,
    lastId: string | undefined,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<ProgressEvent, void>> {
    if (!(await this.#store.findPlan(planId))) throw new Problem('plan_not_found', 'No plan has this id.')
    return this.#events(planId, lastId, signal)
  }

  /** Calls `listener` when a plan is made here and when a run of this instance begins or ends. */
  listen(listener: (planId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  announce(planId: string): void {
    for (const listener of this.#listeners) listener(planId)
  }

  /**
   * Ends all followers, also those that come later. Followers of a run that this instance still executes end with that
   * run.
   */
  close(): void {
    this.#closing = true
    for (const followed of this.#followed.values()) followed.changed.call()
  }

  async *#events(planId: string, lastId: string | undefined, signal: AbortSignal): AsyncGenerator<ProgressEvent, void> {
    const [lastRun, lastSeq] = (lastId ?? '').split('.')
    const followed = this.#join(planId)
    try {
      await followed.refresh()
      for (let seen = 0, current = ''; !signal.aborted; ) {
        const woken = followed.changed.next(signal)
        const { run, entries } = followed
        if (run && run.runId !== current) {
          current = run.runId
          seen = run.runId === lastRun ? Number(lastSeq) || 0 : 0
        }
        if (run) {
          for (const entry of entries.filter(({ seq }) => seq > seen)) {
            seen = entry.seq
            yield eventOf(run, entry)
          }
          if (run.state !== 'running') return
        }
        if (this.#closing && !(run && this.#runs.isUnderWay(run.runId))) return
        await woken
      }
    } finally {
      this.#leave(planId, followed)
    }
  }

  #join(planId: string): FollowedPlan {
    const followed = this.#followed.get(planId) ?? new FollowedPlan(this.#store, planId)
    followed.followers += 1
    this.#followed.set(planId, followed)
    this.#poll.join()
    return followed
  }

  #leave(planId: string, followed: FollowedPlan): void {
    followed.followers -= 1
    if (followed.followers === 0) this.#followed.delete(planId)
    this.#poll.leave()
  }

  async #refreshChanged(): Promise<void> {
    for (const run of await this.#store.newestRuns([...this.#followed.keys()])) {
      const followed = this.#followed.get(run.planId)
      if (followed && !followed.knows(run)) await followed.refresh()
    }
    // A run of this instance may have failed to write its end: wake its followers, so that they notice.
    if (this.#closing) this.close()
  }
}

/** The newest run of a followed plan. It is read once for all followers. */
class FollowedPlan {
  readonly changed = new WakeUp()
  followers = 0
  run: Run | undefined
  entries: readonly JournalEntry[] = []
  readonly #store: Journals
  readonly #planId: string
  #reading: Promise<void> | undefined
  #isStale = false

  constructor(store: Journals, planId: string) {
    this.#store = store
    this.#planId = planId
  }

  knows({ runId, state, entries }: RunProgress): boolean {
    return this.run?.runId === runId && this.run.state === state && this.entries.at(-1)?.seq === entries
  }

  /** Reads the new entries. All calls during a read share one further read. */
  refresh(): Promise<void> {
    this.#isStale = true
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      const run = (await this.#store.runsOf(this.#planId)).at(-1)
      if (!run) continue
      const known = run.runId === this.run?.runId ? this.entries : []
      const more = await this.#store.readJournal(run.runId, known.at(-1)?.seq ?? 0)
      this.run = run
      this.entries = [...known, ...more]
      this.changed.call()
    }
  }
}

function eventOf({ action, runId }: Run, { seq, at, step, mark, image, detail }: JournalEntry): ProgressEvent {
  const state = step === 'run' && mark === 'done' ? (image as { state?: string }).state : undefined
  return {
    id: `${runId}.${seq}`,
    name: state === undefined ? NAMES[mark] : 'end',
    action,
    step,
    at: new Date(at).toISOString(),
    ...(detail !== undefined && { detail }),
    ...(state !== undefined && { state }),
    ...(mark === 'verdict' && { verification: image as Verification }),
  }
}
