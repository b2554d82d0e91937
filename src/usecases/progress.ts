import { Problem } from '../model/errors.ts'
import type { JournalEntry, JournalMark, Run } from '../model/run.ts'
import { SharedPoll, WakeUp } from '../primitives/followers.ts'
import type { Verification } from '../runs/steps/verify.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunMark, RunStore } from '../store/ports/runs.ts'

/** One thing that happened in a run. `id` is where to go on from. */
export interface ProgressEvent {
  readonly id: string
  readonly name: 'started' | 'done' | 'failed' | 'undoing' | 'undone' | 'undo_failed' | 'end'
  readonly action: Run['action']
  readonly step: string
  readonly at: string
  readonly detail?: string
  readonly state?: string
  /** What the edges answered, with the step that asked them. */
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

/** A run, all that happened in it, and how far each of its steps came. */
export interface RunStory {
  readonly run: Run
  readonly events: readonly ProgressEvent[]
  readonly steps: readonly { readonly name: string; readonly status: string; readonly detail?: string }[]
}

/** What is read of the store: nothing here can write to it. */
type Journals = Pick<RunStore, 'runsOf' | 'readJournal'>
type PlanJournals = Journals & Pick<RunStore, 'newestRuns'> & Pick<PlanStore, 'findPlan'>

/** The runs of this instance. */
interface RunsUnderWay {
  isUnderWay(runId: string): boolean
  /** `heard` is called after every entry of a journal. */
  listen(heard: (entry: JournalEntry, run: Run) => void): void
}

/** Every run of a plan, oldest first. */
export const runsOf = async (store: Journals, planId: string): Promise<RunStory[]> =>
  Promise.all((await store.runsOf(planId)).map((run) => storyOf(store, run)))

async function storyOf(store: Journals, run: Run): Promise<RunStory> {
  const entries = await store.readJournal(run.runId, 0)
  const newest = new Map(entries.filter(({ step }) => step !== 'run').map((entry) => [entry.step, entry]))
  const steps = [...newest.values()].map(({ step, mark, detail }) => ({
    name: step,
    status: NAMES[mark],
    ...(detail !== undefined && { detail }),
  }))
  return { run, steps, events: entries.map((entry) => eventOf(run, entry)) }
}

/** Runs of other instances are found by one look for all followers. */
const LOOK_MS = 500

/** Follows a plan's newest run through its journal, from any instance, from any place in it. */
export class PlanProgress {
  readonly #store: PlanJournals
  readonly #runs: RunsUnderWay
  readonly #followed = new Map<string, FollowedPlan>()
  readonly #poll = new SharedPoll(LOOK_MS, () => this.#look())
  #closing = false

  constructor(store: PlanJournals, runs: RunsUnderWay) {
    this.#store = store
    this.#runs = runs
    runs.listen(
      (_entry, { planId }) =>
        void this.#followed
          .get(planId)
          ?.refresh()
          .catch(() => undefined),
    )
  }

  /** Events after `lastId`, until the run has ended. A plan without a run has none yet: they come when it begins. */
  async follow(
    planId: string,
    lastId: string | undefined,
    gone: AbortSignal,
  ): Promise<AsyncGenerator<ProgressEvent, void>> {
    if (!(await this.#store.findPlan(planId))) throw new Problem('plan_not_found', 'No plan has this id.')
    return this.#events(planId, lastId, gone)
  }

  /** From now on only runs under way here are followed to their end: who waits for a run to begin would wait for ever. */
  close(): void {
    this.#closing = true
    for (const followed of this.#followed.values()) followed.news.call()
  }

  async *#events(planId: string, lastId: string | undefined, gone: AbortSignal): AsyncGenerator<ProgressEvent, void> {
    const [lastRun, lastSeq] = (lastId ?? '').split('.')
    const followed = this.#join(planId)
    try {
      await followed.refresh()
      for (let seen = 0, current = ''; !gone.aborted; ) {
        const woken = followed.news.next(gone)
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

  async #look(): Promise<void> {
    for (const run of await this.#store.newestRuns([...this.#followed.keys()])) {
      const followed = this.#followed.get(run.planId)
      if (followed && !followed.knows(run)) await followed.refresh()
    }
    // A run under way here may have failed to write its end.
    if (this.#closing) this.close()
  }
}

/** A plan that somebody follows: its newest run, read once for all followers. */
class FollowedPlan {
  readonly news = new WakeUp()
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

  knows({ runId, state, entries }: RunMark): boolean {
    return this.run?.runId === runId && this.run.state === state && this.entries.at(-1)?.seq === entries
  }

  /** Reads what was written since. Any number of calls during a reading lead to one more. */
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
      this.news.call()
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
