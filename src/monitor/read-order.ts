/** Reads of the same thing may overtake each other. What was asked for last is the newest, whenever it arrives. */
export class ReadOrder {
  readonly #newest = new Map<string, number>()
  #asked = 0

  /** To be called before asking. */
  ask(): number {
    this.#asked += 1
    return this.#asked
  }

  /** Whether no later answer about `host` has arrived yet. From then on it is the newest. */
  arrive(host: string, asked: number): boolean {
    if (this.isPassed(host, asked)) return false
    this.#newest.set(host, asked)
    return true
  }

  isPassed(host: string, asked: number): boolean {
    return (this.#newest.get(host) ?? 0) > asked
  }

  forget(host: string): void {
    this.#newest.delete(host)
  }
}
