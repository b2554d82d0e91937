import { DnsWriteFault } from '../../dns/contract.ts'
import { EdgeFault } from '../../edge/contract.ts'
import { Problem, sentenceOf } from '../../model/errors.ts'
import type { JournalMark, RunAction } from '../../model/run.ts'
import { StaleFence } from '../../store/ports/runs.ts'
import { StoreUnavailable } from '../../store/ports/store.ts'
import type { CrashPoint } from './crash-points.ts'
import { type Journal, type NewEntry, untilStored } from './journal.ts'
import { LeaseLost } from './lease.ts'
import { type Afters, type Step, StepFault, type StepReport } from './step.ts'

export type SagaOutcome =
  | { readonly kind: 'succeeded'; readonly steps: readonly StepReport[] }
  | {
      readonly kind: 'rolled_back' | 'blocked'
      readonly steps: readonly StepReport[]
      readonly rollback: readonly StepReport[]
      /** What made it turn round. */
      readonly fault: unknown
    }

/** The store did not say whether it has the verdict, so nobody knows the direction: whoever reads the journal later does. */
export class Undecided extends StoreUnavailable {}

/** A run that was taken up cannot go on while the world is as it is. Nothing was turned round; try again later. */
export class RetryLater extends Error {
  constructor(step: string, fault: unknown) {
    super(`${step} cannot be brought to its end yet: ${sentenceOf(fault)}`, { cause: fault })
  }
}

/** How long one step may take at most, its waiting for others included; longer than the limits of all its parts. */
const LONGEST_STEP_MS = 15 * 60_000

/**
 * A step has not ended long after everything in it should have. Nobody knows what it did and may still do, so nothing is
 * undone beside it: recovery looks, under a fence of its own that what hangs here no longer passes.
 */
export class Overdue extends Problem {
  constructor(step: string, limitMs: number) {
    const detail = `The step ${step} did not end within ${Math.round(limitMs / 1000)} s. It is put back by recovery.`
    super('unavailable', detail, { nextAction: 'Follow the plan with GET /api/deploy/plans/{planId}.' })
  }
}

export interface SagaParts {
  readonly action: RunAction
  readonly steps: readonly Step[]
  readonly journal: Journal
  readonly crashPoint: CrashPoint
  /** Nobody waits for the outcome: what may pass by itself is waited for (RetryLater) instead of turned round or given up. */
  readonly patient?: boolean
  /** For one step. */
  readonly limitMs?: number
}

/** Runs steps in order and, when one fails, undoes those that may have changed something, in reverse. Knows only `Step`. */
export class Saga {
  readonly #parts: SagaParts
  readonly #journal: Journal
  /** Whether a run without a verdict goes back after a crash. If not, turning round must be in the journal before anything is undone. */
  readonly #backByDefault: boolean
  /** Steps that somebody may have begun before a crash. */
  readonly #begunBefore: ReadonlySet<Step>

  constructor(parts: SagaParts) {
    this.#parts = parts
    this.#journal = parts.journal
    this.#backByDefault = parts.steps.some(({ decides }) => decides)
    this.#begunBefore = new Set(parts.steps.filter(({ name }) => parts.journal.last(name, 'intent')))
  }

  /** Forward from the first step that is not done; steps that are done, as the journal knows, are not done again. */
  async forward(): Promise<SagaOutcome> {
    const reports: StepReport[] = []
    for (const [i, step] of this.#parts.steps.entries()) {
      if (this.#journal.last(step.name, 'done', 'verdict')) continue
      const started = performance.now()
      const isFirst = !this.#begunBefore.has(step)
      try {
        await this.#within(step, this.#do(step, this.#parts.steps[i + 1]))
        reports.push({ name: step.name, status: 'done', ms: since(started) })
      } catch (fault) {
        await this.#stopOrWait(step, 'intent', fault)
        // That this attempt touched nothing says nothing about one before a crash.
        await this.#turnRound(step, isFirst && fault instanceof StepFault && fault.untouched, sentenceOf(fault))
        reports.push({ name: step.name, status: 'failed', ms: since(started), detail: sentenceOf(fault) })
        return { ...(await this.backward()), steps: reports, fault }
      }
    }
    return { kind: 'succeeded', steps: reports }
  }

  /** Undoes whatever may have happened, newest first. Stops at the first that cannot be undone: what it rests on must stay. */
  async backward(): Promise<{ kind: 'rolled_back' | 'blocked'; rollback: StepReport[] }> {
    const rollback: StepReport[] = []
    for (const step of this.#parts.steps.toReversed()) {
      if (!this.#mayHaveChanged(step)) continue
      const started = performance.now()
      try {
        await this.#within(step, this.#undo(step))
        rollback.push({ name: step.name, status: 'undone', ms: since(started) })
      } catch (fault) {
        await this.#stopOrWait(step, 'undo_intent', fault)
        const detail = sentenceOf(fault)
        rollback.push({ name: step.name, status: 'undo_failed', ms: since(started), detail })
        await this.#note(step, 'undo_failed', undefined, detail)
        return { kind: 'blocked', rollback }
      }
    }
    return { kind: 'rolled_back', rollback }
  }

  async #do(step: Step, next: Step | undefined): Promise<void> {
    const at = (moment: string) => this.#parts.crashPoint(`${this.#parts.action} ${step.name} ${moment}`)
    const afters = this.#journal.afters()
    const before = this.#journal.last(step.name, 'intent')?.image ?? (await step.before(afters))
    at('before-intent')
    await this.#intend(step, 'intent', before)
    at('after-intent')
    const after = await step.do(before, afters, (image) => this.#journal.write(step.name, 'intent', image))
    at('after-effect')
    await (step.decides ? this.#decide(step, after) : this.#done(step, after, next))
    at('after-done')
  }

  /** Together with the next one's intent: to write down two things lasts no longer than one. */
  async #done(step: Step, after: unknown, next: Step | undefined): Promise<void> {
    const done: NewEntry = { step: step.name, mark: 'done', image: after }
    const afters = new Map(this.#journal.afters()).set(step.name, after)
    const intent = next && !this.#journal.last(next.name, 'intent') ? await intentOf(next, afters) : undefined
    await this.#journal.writeAll(intent ? [done, intent] : [done])
  }

  async #undo(step: Step): Promise<void> {
    const at = (moment: string) => this.#parts.crashPoint(`${this.#parts.action} ${step.name} ${moment}`)
    at('before-undo-intent')
    await tolerating(() => this.#intend(step, 'undo_intent'))
    at('after-undo-intent')
    await step.undo(this.#journal.last(step.name, 'intent')?.image, this.#journal.afters())
    at('after-undo')
    await this.#note(step, 'undone')
    at('after-undone')
  }

  async #within(step: Step, work: Promise<void>): Promise<void> {
    const { limitMs = LONGEST_STEP_MS } = this.#parts
    const { promise: overdue, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Overdue(step.name, limitMs)), limitMs)
    // What ends after that tells nobody any more.
    work.catch(() => undefined)
    await Promise.race([work, overdue]).finally(() => clearTimeout(timer))
  }

  /** Once is enough, however often a step is tried. */
  async #intend(step: Step, mark: 'intent' | 'undo_intent', image?: unknown): Promise<void> {
    if (this.#journal.newest(step.name)?.mark !== mark) await this.#journal.write(step.name, mark, image)
  }

  /** The point of no return. A store that may or may not have it leaves no right to go back. */
  async #decide(step: Step, after: unknown): Promise<void> {
    await untilStored(() => this.#journal.write(step.name, 'verdict', after)).catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? new Undecided(error) : error
    })
  }

  async #turnRound(step: Step, untouched: boolean, detail: string): Promise<void> {
    const write = () => this.#journal.write(step.name, 'failed', { untouched }, detail)
    await (this.#backByDefault ? tolerating(write) : write())
  }

  /** Throws what neither edgeLock a run round nor ends it: a lost hold, an open verdict, a step that hangs, and for the patient whatever may pass. */
  async #stopOrWait(step: Step, mark: 'intent' | 'undo_intent', fault: unknown): Promise<void> {
    if (FOR_RECOVERY.some((kind) => fault instanceof kind)) throw fault
    if (!this.#parts.patient || !isTransient(fault)) return
    const detail = `${sentenceOf(fault)} It is tried again.`
    const { image, detail: told } = this.#journal.last(step.name, mark) ?? {}
    if (told !== detail) await this.#note(step, mark, image, detail)
    throw new RetryLater(step.name, fault)
  }

  /** On the way back a store that cannot write stops nobody: the intent that stands tells recovery enough, and undo may be repeated. */
  async #note(step: Step, mark: JournalMark, image?: unknown, detail?: string): Promise<void> {
    await tolerating(() => this.#journal.write(step.name, mark, image, detail))
  }

  #mayHaveChanged({ name }: Step): boolean {
    const failed = this.#journal.last(name, 'failed')?.image as { untouched?: boolean } | undefined
    return this.#journal.last(name, 'intent') !== undefined && !failed?.untouched && !this.#journal.last(name, 'undone')
  }
}

const FOR_RECOVERY = [StaleFence, LeaseLost, Undecided, Overdue]

/** Undefined where what is there now cannot be seen: that is for the step itself to say, in its turn. */
const intentOf = (step: Step, afters: Afters): Promise<NewEntry | undefined> =>
  step.before(afters).then(
    (image) => ({ step: step.name, mark: 'intent', image }),
    () => undefined,
  )

async function tolerating(write: () => Promise<void>): Promise<void> {
  await write().catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error
  })
}

const since = (started: number): number => Math.round((performance.now() - started) * 10) / 10

const TRANSIENT: readonly EdgeFault['kind'][] = [
  'not_reloaded',
  'unavailable',
  'write_failed',
  'config_broken',
  'logs_keys',
]

/**
 * Whether looking again later may find it gone: a server that does not answer, an nginx that does not run or must not be
 * reloaded. What somebody else changed meanwhile does not pass.
 */
function isTransient(fault: unknown): boolean {
  if (fault instanceof StepFault) return fault.transient || isTransient(fault.cause)
  if (fault instanceof EdgeFault) return TRANSIENT.includes(fault.kind)
  return fault instanceof DnsWriteFault || fault instanceof StoreUnavailable
}
