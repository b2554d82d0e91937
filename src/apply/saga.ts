import { sentenceOf } from '../model/fault.ts'
import type { JournalMark, RunAction } from '../model/run.ts'
import { StaleFence, StoreUnavailable } from '../store/contract.ts'
import type { Reach } from './crash-points.ts'
import type { Journal } from './journal.ts'
import { type Step, StepFault, type StepReport } from './step.ts'

export type SagaOutcome =
  | { readonly kind: 'succeeded'; readonly steps: readonly StepReport[] }
  | {
      readonly kind: 'rolled_back' | 'blocked'
      readonly steps: readonly StepReport[]
      readonly rollback: readonly StepReport[]
      /** What made it turn round. */
      readonly fault: unknown
    }

/** Runs steps in order and, when one fails, undoes those that may have changed something, in reverse. Knows only `Step`. */
export class Saga {
  readonly #action: RunAction
  readonly #steps: readonly Step[]
  readonly #journal: Journal
  readonly #reach: Reach

  constructor(action: RunAction, steps: readonly Step[], journal: Journal, reach: Reach) {
    this.#action = action
    this.#steps = steps
    this.#journal = journal
    this.#reach = reach
  }

  /** Forward from the first step that is not done; steps that are done, as the journal knows, are not done again. */
  async forward(): Promise<SagaOutcome> {
    const reports: StepReport[] = []
    for (const step of this.#steps) {
      if (this.#journal.last(step.name, 'done', 'verdict')) continue
      const started = performance.now()
      try {
        await this.#do(step)
        reports.push({ name: step.name, status: 'done', ms: since(started) })
      } catch (fault) {
        if (fault instanceof StaleFence) throw fault
        reports.push({ name: step.name, status: 'failed', ms: since(started), detail: sentenceOf(fault) })
        return { ...(await this.backward()), steps: reports, fault }
      }
    }
    return { kind: 'succeeded', steps: reports }
  }

  /** Undoes whatever may have happened, newest first. Stops at the first that cannot be undone: what it rests on must stay. */
  async backward(): Promise<{ kind: 'rolled_back' | 'blocked'; rollback: StepReport[] }> {
    const rollback: StepReport[] = []
    for (const step of this.#steps.toReversed()) {
      if (!this.#mayHaveChanged(step)) continue
      const started = performance.now()
      try {
        await this.#undo(step)
        rollback.push({ name: step.name, status: 'undone', ms: since(started) })
      } catch (fault) {
        if (fault instanceof StaleFence) throw fault
        const detail = sentenceOf(fault)
        rollback.push({ name: step.name, status: 'undo_failed', ms: since(started), detail })
        await this.#note(step, 'undo_failed', undefined, detail)
        return { kind: 'blocked', rollback }
      }
    }
    return { kind: 'rolled_back', rollback }
  }

  async #do(step: Step): Promise<void> {
    const at = (moment: string) => this.#reach(`${this.#action} ${step.name} ${moment}`)
    const afters = this.#journal.afters()
    const before = this.#journal.last(step.name, 'intent')?.image ?? (await step.before(afters))
    at('before-intent')
    await this.#journal.write(step.name, 'intent', before)
    at('after-intent')
    try {
      const note = (image: unknown) => this.#journal.write(step.name, 'intent', image)
      const after = await step.do(before, afters, note)
      at('after-effect')
      await this.#journal.write(step.name, step.decides ? 'verdict' : 'done', after)
      at('after-done')
    } catch (fault) {
      const untouched = fault instanceof StepFault && fault.untouched
      await this.#note(step, 'failed', { untouched }, sentenceOf(fault))
      throw fault
    }
  }

  async #undo(step: Step): Promise<void> {
    const at = (moment: string) => this.#reach(`${this.#action} ${step.name} ${moment}`)
    at('before-undo-intent')
    await this.#note(step, 'undo_intent')
    at('after-undo-intent')
    await step.undo(this.#journal.last(step.name, 'intent')?.image, this.#journal.afters())
    at('after-undo')
    await this.#note(step, 'undone')
    at('after-undone')
  }

  /** On the way back a store that cannot write stops nobody: the intent that stands tells recovery enough, and undo may be repeated. */
  async #note(step: Step, mark: JournalMark, image?: unknown, detail?: string): Promise<void> {
    await this.#journal.write(step.name, mark, image, detail).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error
    })
  }

  #mayHaveChanged({ name }: Step): boolean {
    const failed = this.#journal.last(name, 'failed')?.image as { untouched?: boolean } | undefined
    return this.#journal.last(name, 'intent') !== undefined && !failed?.untouched && !this.#journal.last(name, 'undone')
  }
}

const since = (started: number): number => Math.round((performance.now() - started) * 10) / 10
