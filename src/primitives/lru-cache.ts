/** A map of at most `most` entries. A new entry in a full map replaces the least recently used one. */
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
    const [leastRecent] = this.#entries.keys()
    this.#entries.delete(leastRecent as K)
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }
}
