import { assertStaging, faultOf } from '../../edge/faults.ts'
import type { OutsideFile } from '../../estate/layout.ts'
import type { Refusal } from '../../estate/reading/refusal.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { PresentGeneration } from './present.ts'
import { discard, type NewGeneration, type Staged, stage } from './stage.ts'

export interface TrialParts {
  readonly folder: string
  readonly clock: Clock
  readonly present: PresentGeneration
  readonly base: NewGeneration['base']
  /**
   * Why nginx would not load the configuration with the staged generation. `outside`: further files of the change, outside the
   * folder.
   */
  readonly test: (staged: Staged, outside: readonly OutsideFile[], signal?: AbortSignal) => Promise<Refusal | undefined>
}

/** The texts of the next generation, and the generation by which they were made. */
export type Drafted = Pick<NewGeneration, 'former' | 'texts'>

export type Tried = { readonly staged: Staged } | { readonly refusal: Refusal }

/** Writes generations beside the present one, and tests them with nginx. */
export class Trials {
  readonly #parts: TrialParts

  constructor(parts: TrialParts) {
    this.#parts = parts
  }

  async stageTested(draft: Drafted, outside: readonly OutsideFile[], signal?: AbortSignal): Promise<Tried> {
    await assertStaging(this.#parts.folder)
    const staged = await this.staged(draft)
    const refusal = await this.refusalOf(staged, outside, signal)
    return refusal ? { refusal } : { staged }
  }

  /** Why nginx would not load the staged generation. A refused generation is removed. */
  async refusalOf(staged: Staged, outside: readonly OutsideFile[], signal?: AbortSignal): Promise<Refusal | undefined> {
    try {
      const [refusal] = await Promise.all([this.#parts.test(staged, outside, signal), staged.durable])
      if (refusal) await discard(staged)
      return refusal
    } catch (error) {
      // A file that is still being written would keep its folder in use.
      await staged.durable.catch(() => undefined)
      await discard(staged)
      throw error
    }
  }

  /** Writes a generation with these texts. */
  staged({ former, texts }: Drafted): Promise<Staged> {
    const { folder, base, clock } = this.#parts
    return stage(folder, { former, texts, base, clock }).catch((error: unknown) => {
      throw faultOf(folder, error)
    })
  }
}
