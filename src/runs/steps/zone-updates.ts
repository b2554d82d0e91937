import { DnsWriteFault, type LeasedProvider, type Signing, type ZoneRecord } from '../../dns/contract.ts'
import type { Clock } from '../../primitives/clock.ts'
import { poll } from '../../primitives/retry.ts'
import { StepFault } from '../engine/step.ts'

export type Held = 'yes' | 'no' | 'partly' | 'unknown'

/** Sends an update. The provider calls `signing` before. */
type Send<T> = (signing: Signing) => Promise<T>

export interface DnsParts {
  readonly provider: Omit<LeasedProvider, 'addValue' | 'removeValue'>
  /** Whether the zone's primary server serves exactly these records. */
  readonly readBack: (records: readonly ZoneRecord[]) => Promise<Held>
  /** Everything at these names that a ZoneRecord can describe. */
  readonly readSets: (names: readonly string[]) => Promise<readonly ZoneRecord[] | 'unknown'>
  /** How long a server without a certain answer is asked again. */
  readonly patienceMs: number
  readonly clock: Clock
}

/**
 * What a DNS step journals beside its records: up to which second the server may accept the newest update that the step has sent,
 * on its way forward and on its way back.
 */
export interface SentUpdates {
  readonly doValidUntil?: number
  readonly undoValidUntil?: number
}

/** Journals it with a sentence for whoever follows the run. */
type NoteSent = (sent: SentUpdates, detail?: string) => Promise<void>

/** The updates of one call of a step. None of them is believed before it is certain what became of it. */
export class ZoneUpdates {
  readonly #parts: DnsParts
  readonly #direction: keyof SentUpdates
  readonly #note: NoteSent
  #sent: SentUpdates

  constructor(parts: DnsParts, direction: 'do' | 'undo', sent: SentUpdates, note: NoteSent) {
    this.#parts = parts
    this.#direction = `${direction}ValidUntil`
    this.#sent = sent
    this.#note = note
  }

  /**
   * Waits until nothing that an earlier attempt has sent can be made any more. That attempt may have been made by another process.
   * `isDone`: the way forward ended with a certain outcome.
   */
  async settleEarlier(isDone: boolean): Promise<void> {
    const { doValidUntil, undoValidUntil } = this.#sent
    const open = [isDone ? undefined : doValidUntil, undoValidUntil].filter((second) => second !== undefined)
    if (open.length > 0) await this.#settle(Math.max(...open), 'An earlier attempt sent an update.')
  }

  /** `unknown`: there was no authentic answer, but from now on reading decides. Rejects with StepFault. */
  async send<T>(update: Send<T>): Promise<T | 'unknown'> {
    await this.#assertAccess()
    let validUntil: number | undefined
    const signing: Signing = async (second) => {
      this.#sent = { ...this.#sent, [this.#direction]: second }
      await this.#note(this.#sent)
      validUntil = second
    }
    try {
      return await update(signing)
    } catch (error) {
      if (!(error instanceof DnsWriteFault)) throw error
      if (error.kind === 'refused' || validUntil === undefined)
        throw new StepFault(error.message, { untouched: true, cause: error })
      await this.#settle(validUntil, error.message)
      return 'unknown'
    }
  }

  async #assertAccess(): Promise<void> {
    await this.#parts.provider.assertAccess().catch((error: unknown) => {
      if (!(error instanceof DnsWriteFault)) throw error
      throw new StepFault(`No record was changed. ${error.message}`, { untouched: true, cause: error })
    })
  }

  async #settle(validUntil: number, reason: string): Promise<void> {
    await this.#note(this.#sent, `${reason} Waiting until it is certain what became of it, for at most a minute.`)
    await this.#parts.provider.settle(validUntil)
  }
}

export const readUntilCertain = (
  records: readonly ZoneRecord[],
  { readBack, patienceMs, clock }: DnsParts,
): Promise<Held> =>
  poll(
    () => readBack(records),
    (held) => held !== 'unknown',
    { firstMs: 50, factor: 2, withinMs: patienceMs, clock },
  )

/** The DNS server is silent. On the way back a run waits for it: recovery goes on. */
export const noCertainAnswer = (sentence: string): StepFault =>
  new StepFault(sentence, { untouched: true, transient: true, cause: new DnsWriteFault('unknown', sentence) })
