import { isUnfit } from '../model/host-status.ts'
import type { Clock } from '../primitives/clock.ts'
import { type Pauses, pauseAfter } from '../primitives/retry.ts'
import type { Shortfall } from './edge-standings.ts'

/** What an edge shall have of each host. */
export type Wishes = ReadonlyMap<string, string>

/** The first is the interval of converge: a fault that passes costs no time. */
const PAUSES: Pauses = { firstMs: 20_000, factor: 2, longestMs: 600_000 }
/** An edge whose disk is full is tried more often: nothing else tells that it has room again, and then it has to be in step in a minute. */
const UNFIT_PAUSES: Pauses = { firstMs: 5_000, factor: 2, longestMs: 40_000 }

/**
 * The hosts that one edge did not take. All of them wait together before the next try, each time longer, because every try is a run in the
 * store. A host whose wish has changed waits no more.
 */
export class RefusedHosts {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #refused = new Map<string, string>()
  #tries = 0
  #until = Number.NEGATIVE_INFINITY
  #reason: Shortfall | undefined

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Those of all wishes that wait, and why. What is not wished for any more is forgotten. */
  waiting(wishes: Wishes): { readonly hosts: ReadonlySet<string>; readonly reason: Shortfall | undefined } {
    for (const [host, wish] of this.#refused) if (wishes.get(host) !== wish) this.#refused.delete(host)
    if (this.#refused.size === 0) this.clear()
    const isOver = this.#clock.monotonic() >= this.#until
    return { hosts: new Set(isOver ? [] : this.#refused.keys()), reason: this.#reason }
  }

  /** A run did not bring these hosts into step. */
  add(wishes: Wishes, reason: Shortfall): void {
    for (const [host, wish] of wishes) this.#refused.set(host, wish)
    this.#reason = reason
    this.#tries += 1
    this.#until = this.#clock.monotonic() + pauseAfter(this.#tries, isUnfit(reason) ? UNFIT_PAUSES : PAUSES)
  }

  /** The next look tries all of them. */
  clear(): void {
    this.#refused.clear()
    this.#tries = 0
    this.#until = Number.NEGATIVE_INFINITY
    this.#reason = undefined
  }
}
