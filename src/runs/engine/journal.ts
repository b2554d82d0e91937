import { type Afters, aftersIn } from '../../model/receipt.ts'
import type { JournalEntry, JournalMark, Run } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import { retry } from '../../primitives/retry.ts'
import type { RunStore } from '../../store/ports/runs.ts'
import { StoreUnavailable, type Transactions } from '../../store/ports/store.ts'

export type NewEntry = Pick<JournalEntry, 'step' | 'mark' | 'image' | 'detail'>

export interface JournalParts {
  readonly store: Transactions<RunStore>
  readonly run: Pick<Run, 'runId' | 'fence'>
  readonly now: () => number
  /** Called with each entry after it is durable. */
  readonly onWritten: (entry: JournalEntry) => void
  /** Rejects if another instance may hold the run's lease. A step that cannot journal its intent does not act. */
  readonly ensureHeld: () => Promise<void>
  /** The entries that were written before a crash. */
  readonly entries?: readonly JournalEntry[]
}

/** The journal of a run. Every write is durable when it resolves, and is then reported to whoever follows the run. */
export class Journal {
  readonly #parts: JournalParts
  readonly #entries: JournalEntry[]

  constructor(parts: JournalParts) {
    this.#parts = parts
    this.#entries = [...(parts.entries ?? [])]
  }

  write(step: string, mark: JournalMark, image?: unknown, detail?: string): Promise<void> {
    return this.writeAll([{ step, mark, image, detail }])
  }

  /** All of them or none. */
  async writeAll(entries: readonly NewEntry[]): Promise<void> {
    const { store, run, now, onWritten, ensureHeld } = this.#parts
    await ensureHeld()
    const at = now()
    const written = await store.transaction(async (session) => {
      const appended: JournalEntry[] = []
      for (const { step, mark, image, detail } of entries)
        appended.push(await session.appendJournal({ runId: run.runId, at, step, mark, image, detail }, run.fence))
      return appended
    })
    this.#entries.push(...written)
    for (const entry of written) onWritten(entry)
  }

  /** The newest entry of a step with one of these marks. */
  last(step: string, ...marks: JournalMark[]): JournalEntry | undefined {
    return this.#entries.findLast((entry) => entry.step === step && marks.includes(entry.mark))
  }

  newest(step: string): JournalEntry | undefined {
    return this.#entries.findLast((entry) => entry.step === step)
  }

  /** After-images by step, as far as the run came. */
  afters(): Afters {
    return aftersIn(this.#entries)
  }
}

/** Repeats a write while the store does not answer, for about six seconds: a store that comes back in time loses nothing. */
export const untilStored = <T>(write: () => Promise<T>, clock: Clock): Promise<T> =>
  retry(write, (error) => error instanceof StoreUnavailable, { firstMs: 100, factor: 2, tries: 7, clock })
