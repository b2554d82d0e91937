import { type Clock, systemClock } from './clock.ts'

/** How long one slice may keep the event loop from other work. */
const SLICE_MS = 5

/** The last slice that waits for its turn of the event loop, by clock. */
const lastTurns = new WeakMap<Clock, Promise<void>>()

/** When the slice of the present turn of the event loop is over, by clock. */
const ends = new WeakMap<Clock, number>()

/** Divides long work into slices, so that other work of the event loop runs between them. */
export class Slices {
  readonly #clock: Clock
  #endsAt: number

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
    this.#endsAt = endOfSlice(clock)
  }

  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#endsAt
  }

  /** Of all work that is divided, one slice runs in each turn of the event loop: together they would be one long stretch. */
  async next(): Promise<void> {
    const turn = (lastTurns.get(this.#clock) ?? Promise.resolve()).then(() => this.#clock.turn())
    lastTurns.set(this.#clock, turn)
    await turn
    this.#endsAt = endOfSlice(this.#clock)
  }
}

/** Work that begins in the turn of other work goes on with its slice: a row of short pieces would be one long stretch, too. */
function endOfSlice(clock: Clock): number {
  const known = ends.get(clock)
  if (known !== undefined) return known
  const end = clock.monotonic() + SLICE_MS
  ends.set(clock, end)
  void clock.turn().then(() => ends.delete(clock))
  return end
}

/** Parts of a list, each of at most this size. */
export const slicesOf = <T>(rows: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size))
