import type { JournalEntry, JournalMark, Run } from '../model/run.ts'
import type { Store } from '../store/contract.ts'

export type JournalListener = (entry: JournalEntry) => void

/** A run's journal: durable before anyone goes on, heard by whoever follows the run. */
export class Journal {
  readonly #store: Store
  readonly #run: Pick<Run, 'runId' | 'fence'>
  readonly #now: () => number
  readonly #tell: JournalListener
  readonly #entries: JournalEntry[]

  constructor(
    store: Store,
    run: Pick<Run, 'runId' | 'fence'>,
    now: () => number,
    tell: JournalListener,
    entries: readonly JournalEntry[] = [],
  ) {
    this.#store = store
    this.#run = run
    this.#now = now
    this.#tell = tell
    this.#entries = [...entries]
  }

  async write(step: string, mark: JournalMark, image?: unknown, detail?: string): Promise<void> {
    const { runId, fence } = this.#run
    const entry = await this.#store.appendJournal({ runId, at: this.#now(), step, mark, image, detail }, fence)
    this.#entries.push(entry)
    this.#tell(entry)
  }

  /** The newest entry of a step with this mark. */
  last(step: string, ...marks: JournalMark[]): JournalEntry | undefined {
    return this.#entries.findLast((entry) => entry.step === step && marks.includes(entry.mark))
  }

  /** After-images by step, as far as the run came. */
  afters(): ReadonlyMap<string, unknown> {
    const done = this.#entries.filter(({ mark }) => mark === 'done' || mark === 'verdict')
    return new Map(done.map(({ step, image }) => [step, image]))
  }
}
