import type { Clock } from '../../primitives/clock.ts'
import { isOutside } from '../config/layout.ts'
import type { EdgeChange, EdgeFile } from '../contract.ts'
import { keepUsedCertificates } from '../files/certificates-in-use.ts'
import { assertStaging, faultOf } from '../files/files.ts'
import type { Refusal } from '../reading/refusal.ts'
import { Draft, type GatheredText, type Manner } from './draft.ts'
import type { PresentGeneration } from './present.ts'
import { discard, type NewGeneration, type Staged, stage } from './stage.ts'

export interface TrialParts {
  readonly folder: string
  readonly clock: Clock
  readonly present: PresentGeneration
  readonly base: NewGeneration['base']
  /** Whether nginx would load the configuration with the staged generation. `outside`: files that come with it, outside the folder. */
  readonly test: (staged: Staged, outside: readonly EdgeFile[], signal?: AbortSignal) => Promise<Refusal | undefined>
}

export type Change = Pick<EdgeChange, 'files' | keyof Manner>

export type Tried = { readonly staged: Staged } | { readonly refusal: Refusal }

/** Writes generations beside the present one and lets nginx test them. */
export class Trials {
  readonly #parts: TrialParts

  constructor(parts: TrialParts) {
    this.#parts = parts
  }

  /** `begun`: called when the test has begun. */
  async stageTested(changes: readonly Change[], signal?: AbortSignal, begun?: () => void): Promise<Tried> {
    await assertStaging(this.#parts.folder)
    const staged = await this.staged(this.textsWith(changes))
    const refusal = await this.refusalOf(staged, changes, signal, begun)
    return refusal ? { refusal } : { staged }
  }

  /** Why nginx would not load the staged generation, which is then gone. */
  async refusalOf(
    staged: Staged,
    changes: readonly Change[],
    signal?: AbortSignal,
    begun?: () => void,
  ): Promise<Refusal | undefined> {
    const outside = changes.flatMap(({ files }) => files).filter(({ path }) => isOutside(path))
    try {
      const testing = this.#parts.test(staged, outside, signal)
      begun?.()
      const [refusal] = await Promise.all([testing, staged.durable])
      if (refusal) await discard(staged)
      return refusal
    } catch (error) {
      // A file that is still being written would keep its folder.
      await staged.durable.catch(() => undefined)
      await discard(staged)
      throw error
    }
  }

  /** Writes a generation with these texts. */
  staged(texts: ReadonlyMap<string, GatheredText>): Promise<Staged> {
    const { folder, base, present, clock } = this.#parts
    return stage(folder, { from: present.number, texts, base, clock }).catch((error: unknown) => {
      throw faultOf(folder, error)
    })
  }

  /** The texts of the gathered files that change. */
  textsWith(changes: readonly Change[]): Map<string, GatheredText> {
    const { present } = this.#parts
    const kept = new Set(
      keepUsedCertificates(
        present,
        changes.flatMap(({ files }) => files),
      ),
    )
    const draft = new Draft(present)
    for (const change of changes)
      for (const file of change.files) if (kept.has(file) && !isOutside(file.path)) draft.put(file, change)
    return draft.texts
  }
}
