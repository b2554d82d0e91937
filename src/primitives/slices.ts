/** Divides long work into slices, so that other work of the event loop runs between them. */
export class Slices {
  readonly #lengthMs: number
  #endsAt: number

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs
    this.#endsAt = performance.now() + lengthMs
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAt
  }

  async next(): Promise<void> {
    await new Promise(setImmediate)
    this.#endsAt = performance.now() + this.#lengthMs
  }
}
