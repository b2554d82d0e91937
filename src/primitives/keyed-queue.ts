/**
 * Runs work with the same key one after the other, in the order of the calls. Work with different keys runs
 * concurrently.
 */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Settles as `work` settles. Work that fails does not stop the work after it. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const result = before.then(work)
    const ended = result.then(
      () => undefined,
      () => undefined,
    )
    this.#last.set(key, ended)
    void ended.then(() => {
      if (this.#last.get(key) === ended) this.#last.delete(key)
    })
    return result
  }
}
