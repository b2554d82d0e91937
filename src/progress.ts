import type { Runs } from './apply/runs.ts'
import type { Verification } from './apply/steps/verify.ts'
import { Problem } from './model/errors.ts'
import type { JournalEntry, JournalMark, Run } from './model/run.ts'
import type { Store } from './store/contract.ts'

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

/** Every run of a plan, oldest first. */
export const runsOf = async (store: Store, planId: string): Promise<RunStory[]> =>
  Promise.all((await store.runsOf(planId)).map((run) => storyOf(store, run)))

async function storyOf(store: Store, run: Run): Promise<RunStory> {
  const entries = await store.readJournal(run.runId, 0)
  const newest = new Map(entries.filter(({ step }) => step !== 'run').map((entry) => [entry.step, entry]))
  const steps = [...newest.values()].map(({ step, mark, detail }) => ({
    name: step,
    status: NAMES[mark],
    ...(detail !== undefined && { detail }),
  }))
  return { run, steps, events: entries.map((entry) => eventOf(run, entry)) }
}

/** Runs of other instances are found by looking again. */
const LOOK_AGAIN_MS = 500

/** Follows a plan's newest run through its journal, from any instance, from any place in it. */
export class PlanProgress {
  readonly #store: Store
  readonly #runs: Runs
  #closing = false

  constructor(store: Store, runs: Runs) {
    this.#store = store
    this.#runs = runs
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

  /** From now on only what is under way here is followed to its end: who waits for a run to begin would wait for ever. */
  close(): void {
    this.#closing = true
  }

  async *#events(planId: string, lastId: string | undefined, gone: AbortSignal): AsyncGenerator<ProgressEvent, void> {
    const [lastRun, lastSeq] = (lastId ?? '').split('.')
    let wake: () => void = () => undefined
    const stop = this.#runs.listen(() => wake())
    try {
      for (let seen = 0, current = ''; ; ) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve
          setTimeout(resolve, LOOK_AGAIN_MS).unref()
        })
        const run = (await this.#store.runsOf(planId)).at(-1)
        if (run && run.runId !== current) {
          current = run.runId
          seen = run.runId === lastRun ? Number(lastSeq) || 0 : 0
        }
        if (run) {
          for (const entry of await this.#store.readJournal(run.runId, seen)) {
            seen = entry.seq
            yield eventOf(run, entry)
          }
          if (run.state !== 'running') return
        }
        if (this.#closing && !(run && this.#runs.isUnderWay(run.runId))) return
        await woken
        if (gone.aborted) return
      }
    } finally {
      stop()
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
