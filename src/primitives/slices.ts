import { type Clock, systemClock } from './clock.ts'

/** How long one slice may keep the event loop from other work. */
const SLICE_MS = 5

/** The last slice that waits for its turn of the event loop, by clock. */
const lastTurns = new WeakMap<Clock, Promise<void>>()

/** Divides long work into slices, so that other work of the event loop runs between them. */
export class Slices {
  readonly #lengthMs: number
  readonly #clock: Clock
  #endsAt: number

  constructor(clock: Clock = systemClock, lengthMs = SLICE_MS) {
    this.#lengthMs = lengthMs
    this.#clock = clock
    this.#endsAt = clock.monotonic() + lengthMs
  }

  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#endsAt
  }

  /** Of all work that is divided, one slice runs in each turn of the event loop: together they would be one long stretch. */
  async next(): Promise<void> {
    const turn = (lastTurns.get(this.#clock) ?? Promise.resolve()).then(() => this.#clock.turn())
    lastTurns.set(this.#clock, turn)
    await turn
    this.#endsAt = this.#clock.monotonic() + this.#lengthMs
  }
}

/** Parts of a list, each of at most this size. */
export const slicesOf = <T>(rows: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size))
