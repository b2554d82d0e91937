import { Fault } from '../../model/errors.ts'

/** What earlier steps of the same run left, by name: their after-images, also after a crash. */
export type Afters = ReadonlyMap<string, unknown>

/** Replaces the before-image in the journal, for what only becomes known on the way and must be undone. */
export type Note = (image: unknown) => Promise<void>

/**
 * One reversible part of a run. `before` only looks. `do` and `undo` may be called twice, and after a crash without
 * anybody knowing how far they came: both look at the world first. Images are JSON and never hold a secret.
 */
export interface Step {
  readonly name: string
  /** What is there now. Journalled before anything changes. */
  before(afters: Afters): Promise<unknown>
  /** Makes the change, or sees that it is made already; gives the after-image. */
  do(before: unknown, afters: Afters, note: Note): Promise<unknown>
  /** Puts `before` back where the world is still what `do` left; rejects when somebody else changed it since. */
  undo(before: unknown, afters: Afters): Promise<void>
  /** Passing this step is the verdict: from here a run only goes forward. */
  readonly decides?: boolean
}

/**
 * A step that failed. `untouched`: it is certain that nothing was changed, so there is nothing to undo. `transient`: what
 * hindered it may be gone when it is looked at again. `code`: what the caller is told, where the step knows better.
 */
export class StepFault extends Fault {
  readonly untouched: boolean
  readonly transient: boolean
  override readonly code: Fault['code']
  override readonly retryAfter: Fault['retryAfter']

  constructor(sentence: string, options: StepFaultOptions = {}) {
    super(sentence, { cause: options.cause })
    this.untouched = options.untouched ?? false
    const cause = options.cause instanceof Fault ? options.cause : undefined
    this.transient = options.transient ?? false
    this.code = options.code ?? cause?.code
    this.retryAfter = cause?.retryAfter
  }
}

interface StepFaultOptions {
  readonly untouched?: boolean
  readonly transient?: boolean
  readonly code?: Fault['code']
  readonly cause?: unknown
}

export interface StepReport {
  readonly name: string
  readonly status: 'done' | 'failed' | 'undone' | 'undo_failed'
  readonly ms: number
  readonly detail?: string
}
