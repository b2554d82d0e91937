import { type Clock, systemClock } from './clock.ts'

/** Divides long work into slices, so that other work of the event loop runs between them. */
export class Slices {
  readonly #lengthMs: number
  readonly #clock: Clock
  #endsAt: number

  constructor(lengthMs: number, clock: Clock = systemClock) {
    this.#lengthMs = lengthMs
    this.#clock = clock
    this.#endsAt = clock.monotonic() + lengthMs
  }

  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#endsAt
  }

  async next(): Promise<void> {
    await this.#clock.turn()
    this.#endsAt = this.#clock.monotonic() + this.#lengthMs
  }
}

/** Parts of a list, each of at most this size. */
export const slicesOf = <T>(rows: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size))
