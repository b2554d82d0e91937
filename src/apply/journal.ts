import type { JournalEntry, JournalMark, Run } from '../model/run.ts'
import type { Store } from '../store/contract.ts'

export type JournalListener = (entry: JournalEntry) => void

export interface JournalParts {
  readonly store: Pick<Store, 'appendJournal'>
  readonly run: Pick<Run, 'runId' | 'fence'>
  readonly now: () => number
  readonly tell: JournalListener
  /** Throws when the run's lease may be somebody else's: who cannot write down what comes next does not do it either. */
  readonly assertHeld: () => void
  /** What was written before a crash. */
  readonly entries?: readonly JournalEntry[]
}

/** A run's journal: durable before anyone goes on, heard by whoever follows the run. */
export class Journal {
  readonly #parts: JournalParts
  readonly #entries: JournalEntry[]

  constructor(parts: JournalParts) {
    this.#parts = parts
    this.#entries = [...(parts.entries ?? [])]
  }

  async write(step: string, mark: JournalMark, image?: unknown, detail?: string): Promise<void> {
    const { store, run, now, tell, assertHeld } = this.#parts
    assertHeld()
    const entry = await store.appendJournal({ runId: run.runId, at: now(), step, mark, image, detail }, run.fence)
    this.#entries.push(entry)
    tell(entry)
  }

  /** The newest entry of a step with one of these marks. */
  last(step: string, ...marks: JournalMark[]): JournalEntry | undefined {
    return this.#entries.findLast((entry) => entry.step === step && marks.includes(entry.mark))
  }

  newest(step: string): JournalEntry | undefined {
    return this.#entries.findLast((entry) => entry.step === step)
  }

  /** After-images by step, as far as the run came. */
  afters(): ReadonlyMap<string, unknown> {
    const done = this.#entries.filter(({ mark }) => mark === 'done' || mark === 'verdict')
    return new Map(done.map(({ step, image }) => [step, image]))
  }
}
