/** A map of at most `most` entries. When it is full, the entry that was not used for the longest time goes. */
export class LruCache<K, V> {
  readonly #most: number
  readonly #entries = new Map<K, V>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#most) return
    const [longestUnused] = this.#entries.keys()
    this.#entries.delete(longestUnused as K)
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }
}
