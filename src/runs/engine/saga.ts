import { DnsWriteFault } from '../../dns/contract.ts'
import { EdgeFault, isFenced } from '../../edge/contract/fault.ts'
import { Problem, sentenceOf } from '../../model/errors.ts'
import type { Afters } from '../../model/receipt.ts'
import type { JournalMark, RunAction } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import { StaleFence } from '../../store/ports/runs.ts'
import { StoreUnavailable } from '../../store/ports/store.ts'
import type { CrashPoint } from './crash-points.ts'
import { type Journal, type NewEntry, untilStored } from './journal.ts'
import { LeaseLost } from './lease.ts'
import type { StepLimit } from './limits.ts'
import { type EarlyStart, type Step, StepFault, type StepReport } from './step.ts'

export type SagaOutcome =
  | { readonly kind: 'succeeded'; readonly steps: readonly StepReport[] }
  | {
      readonly kind: 'rolled_back' | 'blocked'
      readonly steps: readonly StepReport[]
      readonly rollback: readonly StepReport[]
      /** The fault that made the run turn back. */
      readonly fault: unknown
    }

/** The store did not confirm the verdict, so the direction of the run is unknown here. Recovery reads it from the journal. */
export class Undecided extends StoreUnavailable {}

/** A recovered run met a transient fault. It did not turn back; recovery tries again later. */
export class RetryLater extends Error {
  constructor(step: string, fault: unknown) {
    super(`Step ${step} cannot finish yet: ${sentenceOf(fault)}`, { cause: fault })
  }
}

/**
 * A step did not end although its limit was reached and its waits were ended. What it did, and what it may still do, is unknown,
 * so this run undoes nothing beside it. Recovery takes the run over under a higher fence, which the step that hangs does not pass.
 */
export class Overdue extends Problem {
  constructor(step: string, limitMs: number) {
    super('unavailable', `${limitSentence(step, limitMs)} Recovery will undo it.`, {
      nextAction: 'Follow the plan with GET /api/deploy/plans/{planId}.',
    })
  }
}

/**
 * The agent of an edge or a name server does not answer, so what stands there cannot be put back now. It goes on serving what it
 * has. Recovery puts it back when the agent or the server is there again.
 */
class ServerAway extends Problem {
  constructor(fault: unknown) {
    super('unavailable', `${sentenceOf(fault)} Recovery will put back what was changed when it answers.`, {
      nextAction: 'Follow the plan with GET /api/deploy/plans/{planId}.',
    })
  }
}

const limitSentence = (step: string, limitMs: number): string =>
  `Step ${step} did not end within ${Math.round(limitMs / 1000)} s.`

export interface SagaParts {
  readonly action: RunAction
  readonly steps: readonly Step[]
  readonly journal: Journal
  readonly crashPoint: CrashPoint
  /** No caller waits for the outcome: a transient fault ends the attempt with RetryLater instead of turning the run back. */
  readonly patient?: boolean
  /** Rejects if another instance has the lease of the run, or if the store does not say. */
  readonly confirmHeld: () => Promise<void>
  /** Ends the waits of a step at its limit. */
  readonly limit: StepLimit
  readonly clock: Clock
}

/** Runs steps in order. When one fails, undoes the steps that may have changed something, in reverse. Knows only `Step`. */
export class Saga {
  readonly #parts: SagaParts
  readonly #journal: Journal
  /** Whether a run without a verdict goes back after a crash. If not, the journal must say that it turned back before anything is undone. */
  readonly #backByDefault: boolean
  /** Steps whose intent was journalled before a crash. */
  readonly #begunBefore: ReadonlySet<Step>

  constructor(parts: SagaParts) {
    this.#parts = parts
    this.#journal = parts.journal
    this.#backByDefault = parts.steps.some(({ decides }) => decides)
    this.#begunBefore = new Set(parts.steps.filter(({ name }) => parts.journal.last(name, 'intent')))
  }

  /** Runs forward from the first step that the journal does not show as done. */
  async forward(): Promise<SagaOutcome> {
    const reports: StepReport[] = []
    for (const [i, step] of this.#parts.steps.entries()) {
      if (this.#journal.last(step.name, 'done', 'verdict')) continue
      const started = this.#parts.clock.monotonic()
      const isFirst = !this.#begunBefore.has(step)
      try {
        await this.#within(step, () => this.#do(step, this.#parts.steps[i + 1]))
        reports.push({ name: step.name, status: 'done', ms: this.#since(started) })
      } catch (fault) {
        await this.#stopOrWait(step, 'intent', fault)
        // After the verdict a run only goes forward: recovery does the rest.
        if (this.#isDecided() && !isFenced(fault)) throw fault
        reports.push({ name: step.name, status: 'failed', ms: this.#since(started), detail: sentenceOf(fault) })
        if (this.#isDecided()) return { kind: 'blocked', steps: reports, rollback: [], fault }
        // An attempt before a crash may have changed something even if this one did not.
        await this.#turnRound(step, isFirst && fault instanceof StepFault && fault.untouched, sentenceOf(fault))
        return { ...(await this.backward()), steps: reports, fault }
      }
    }
    return { kind: 'succeeded', steps: reports }
  }

  #since(started: number): number {
    return Math.round((this.#parts.clock.monotonic() - started) * 10) / 10
  }

  /**
   * Ends a run that an edge refuses although the run holds its lease: the host on that edge belongs to another store. Nothing is undone,
   * because the other store may have the same journal.
   */
  async refusedByEdge(fault: unknown): Promise<SagaOutcome> {
    await this.#parts.confirmHeld()
    const hasBegun = this.#parts.steps.some((step) => this.#mayHaveChanged(step))
    return { kind: hasBegun ? 'blocked' : 'rolled_back', steps: [], rollback: [], fault }
  }

  /** Undoes every step that may have changed something, newest first. Stops at the first that cannot be undone: it may depend on earlier steps. */
  async backward(): Promise<{ kind: 'rolled_back' | 'blocked'; rollback: StepReport[] }> {
    const rollback: StepReport[] = []
    for (const step of this.#parts.steps.toReversed()) {
      if (!this.#mayHaveChanged(step)) continue
      const started = this.#parts.clock.monotonic()
      try {
        await this.#within(step, () => this.#undo(step))
        rollback.push({ name: step.name, status: 'undone', ms: this.#since(started) })
      } catch (fault) {
        await this.#stopOrWait(step, 'undo_intent', fault)
        const detail = sentenceOf(fault)
        rollback.push({ name: step.name, status: 'undo_failed', ms: this.#since(started), detail })
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
    earlyStart(step, next)?.begin(afters)
    const after = await step.do(before, afters, (image, detail) =>
      this.#journal.write(step.name, 'intent', image, detail),
    )
    at('after-effect')
    await (step.decides ? this.#decide(step, after) : this.#done(step, after, next))
    at('after-done')
  }

  /** Writes the next step's intent in the same transaction: two entries cost one fsync. */
  async #done(step: Step, after: unknown, next: Step | undefined): Promise<void> {
    const done: NewEntry = { step: step.name, mark: 'done', image: after }
    const afters = { ...this.#journal.afters(), [step.name]: after }
    const intent = next && !this.#journal.last(next.name, 'intent') ? await intentOf(next, afters) : undefined
    await this.#journal.writeAll(intent ? [done, intent] : [done])
  }

  async #undo(step: Step): Promise<void> {
    const at = (moment: string) => this.#parts.crashPoint(`${this.#parts.action} ${step.name} ${moment}`)
    at('before-undo-intent')
    await tolerating(() => this.#intend(step, 'undo_intent'))
    at('after-undo-intent')
    // What an interrupted undo has noted replaces the image of the way forward.
    const before = this.#journal.last(step.name, 'undo_intent')?.image ?? this.#journal.last(step.name, 'intent')?.image
    await step.undo(before, this.#journal.afters(), (image, detail) =>
      this.#journal.write(step.name, 'undo_intent', image, detail),
    )
    const { steps } = this.#parts
    await earlyStart(step, steps[steps.indexOf(step) + 1])?.abandon?.()
    at('after-undo')
    await this.#note(step, 'undone')
    at('after-undone')
  }

  /** A limit that is reached ends the waits of the step, which is then a fault like any other. */
  async #within(step: Step, work: () => Promise<void>): Promise<void> {
    const { limit } = this.#parts
    const limitMs = limit.of(step.name)
    const { promise: overdue, reject } = Promise.withResolvers<never>()
    const reached = limit.begin(step.name, new StepFault(limitSentence(step.name, limitMs)), () =>
      reject(new Overdue(step.name, limitMs)),
    )
    const working = work()
    // A rejection after the limit has no listener.
    working.catch(() => undefined)
    await Promise.race([working, overdue]).finally(() => reached.end())
  }

  /** Writes the intent once, however often a step is tried. */
  async #intend(step: Step, mark: 'intent' | 'undo_intent', image?: unknown): Promise<void> {
    if (this.#journal.newest(step.name)?.mark !== mark) await this.#journal.write(step.name, mark, image)
  }

  /** Writes the verdict, the point of no return. If the store may have it, the run must not go back. */
  async #decide(step: Step, after: unknown): Promise<void> {
    const write = () => this.#journal.write(step.name, 'verdict', after)
    await untilStored(write, this.#parts.clock).catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? new Undecided(error) : error
    })
  }

  async #turnRound(step: Step, untouched: boolean, detail: string): Promise<void> {
    const write = () => this.#journal.write(step.name, 'failed', { untouched }, detail)
    await (this.#backByDefault ? tolerating(write) : write())
  }

  /** Throws faults that neither turn a run back nor end it: a lost lease (also if an edge noticed it first), an unconfirmed verdict, an overdue step and, with `patient`, a transient fault. */
  async #stopOrWait(step: Step, mark: 'intent' | 'undo_intent', fault: unknown): Promise<void> {
    if (FOR_RECOVERY.some((kind) => fault instanceof kind)) throw fault
    // While this run holds its lease, no run of this store is newer. So the host belongs to another store, and a retry would not help.
    if (isFenced(fault)) return this.#parts.confirmHeld()
    // Without the store no lock can be taken, so nothing is undone now. Recovery undoes it.
    if (mark === 'undo_intent' && isByStore(fault)) throw fault
    if (mark === 'undo_intent' && !this.#parts.patient && isAway(fault)) throw new ServerAway(fault)
    if (!this.#parts.patient || !isTransient(fault)) return
    const detail = `${sentenceOf(fault)} Retrying automatically.`
    const { image, detail: told } = this.#journal.last(step.name, mark) ?? {}
    if (told !== detail) await this.#note(step, mark, image, detail)
    throw new RetryLater(step.name, fault)
  }

  /** On the way back a failed write is tolerated: the intent in the journal is enough for recovery, and undo may be repeated. */
  async #note(step: Step, mark: JournalMark, image?: unknown, detail?: string): Promise<void> {
    await tolerating(() => this.#journal.write(step.name, mark, image, detail))
  }

  #isDecided(): boolean {
    return this.#parts.steps.some(({ name }) => this.#journal.last(name, 'verdict') !== undefined)
  }

  #mayHaveChanged({ name }: Step): boolean {
    const failed = this.#journal.last(name, 'failed')?.image as { untouched?: boolean } | undefined
    return this.#journal.last(name, 'intent') !== undefined && !failed?.untouched && !this.#journal.last(name, 'undone')
  }
}

const isByStore = (fault: unknown): boolean =>
  fault instanceof StoreUnavailable || (fault instanceof Error && fault.cause !== undefined && isByStore(fault.cause))

const FOR_RECOVERY = [StaleFence, LeaseLost, Undecided, Overdue]

/** How the next step starts beside this one. Undefined if it waits for the end of this one. */
const earlyStart = (step: Step, next: Step | undefined): EarlyStart | undefined =>
  next?.early?.beside === step.name ? next.early : undefined

/** Undefined if `before` fails. The step then reports that fault itself when it runs. */
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

const TRANSIENT: readonly EdgeFault['kind'][] = [
  'not_reloaded',
  'unavailable',
  'write_failed',
  'config_broken',
  'logs_keys',
  'away',
]

const isAway = (fault: unknown): boolean =>
  fault instanceof Error &&
  ((fault instanceof EdgeFault && fault.kind === 'away') ||
    (fault instanceof DnsWriteFault && fault.kind === 'unknown') ||
    isAway(fault.cause))

/**
 * Whether a later attempt may succeed: a server does not answer, nginx does not run or must not be reloaded. A change made
 * outside Drawbridge is not transient.
 */
function isTransient(fault: unknown): boolean {
  if (fault instanceof StepFault) return fault.transient || isTransient(fault.cause)
  if (fault instanceof EdgeFault) return TRANSIENT.includes(fault.kind)
  return fault instanceof DnsWriteFault || fault instanceof StoreUnavailable
}
