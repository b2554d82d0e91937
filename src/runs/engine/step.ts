import { Fault } from '../../model/errors.ts'
import type { Afters, StepResults } from '../../model/receipt.ts'
import type { StepName } from '../../model/run.ts'

/**
 * Replaces the before-image in the journal, for facts that become known during `do` or `undo` and that the next attempt needs.
 * `detail` is told to whoever follows the run.
 */
export type Note<Before> = (image: Before, detail?: string) => Promise<void>

/**
 * One reversible part of a run. `before` only reads. `do` and `undo` must be repeatable: after a crash they are called again
 * without knowing how far they came, so both read the present state first. Images are JSON and never hold a secret.
 */
export interface Step<Name extends StepName = StepName, Before = unknown> {
  readonly name: Name
  /** Reads the present state. It is journalled before anything changes. */
  before(afters: Afters): Promise<Before>
  /** Makes the change, or finds it made already. Resolves with the after-image. */
  do(before: Before, afters: Afters, note: Note<Before>): Promise<StepResults[Name]>
  /** Restores `before` if the present state is still what `do` left. Rejects if it was changed outside Drawbridge. */
  undo(before: Before, afters: Afters, note: Note<Before>): Promise<void>
  /** When this step is done the verdict is in: from then on the run only goes forward. */
  readonly decides?: boolean
  readonly early?: EarlyStart
}

/** How a step starts while the step before it works. It changes nothing that callers see. */
export interface EarlyStart {
  /** The step beside which it may start. The engine starts it there only if that step comes directly before. */
  readonly beside: StepName
  /** Starts and does not wait. The step's `do` uses what was started. Must not throw. */
  begin(afters: Afters): void
  /** Called when the step before is undone: removes what was started, or what a crash left of it. Repeatable. */
  abandon?(): Promise<void>
}

/**
 * A step that failed. `untouched`: nothing was changed, so there is nothing to undo. `transient`: a later attempt may
 * succeed. `code`: the error code for the caller, if the step knows a better one than the run.
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
