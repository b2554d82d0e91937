interface Due {
  readonly host: string
  readonly at: number
}

/** When each host is due. A heap: to find the next one among thousands takes a few comparisons. */
export class DueHosts {
  readonly #at = new Map<string, number>()
  /** Has a former time of a host as well, until that comes to the top. */
  readonly #heap: Due[] = []

  get hosts(): IterableIterator<string> {
    return this.#at.keys()
  }

  has(host: string): boolean {
    return this.#at.has(host)
  }

  set(host: string, at: number): void {
    if (this.#at.get(host) === at) return
    this.#at.set(host, at)
    const heap = this.#heap
    let place = heap.push({ host, at }) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (this.#timeAt(above) <= at) break
      this.#swap(above, place)
      place = above
    }
  }

  delete(host: string): void {
    this.#at.delete(host)
  }

  /** Removes a host that is due at `now`, the longest overdue one, and resolves to it. */
  take(now: number): string | undefined {
    for (;;) {
      const [first] = this.#heap
      if (!first || first.at > now) return undefined
      this.#removeFirst()
      if (this.#at.get(first.host) !== first.at) continue
      this.#at.delete(first.host)
      return first.host
    }
  }

  countDue(now: number): number {
    let count = 0
    for (const at of this.#at.values()) if (at <= now) count += 1
    return count
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    heap[0] = last
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2]
      const least = this.#timeAt(right) < this.#timeAt(left) ? right : left
      if (this.#timeAt(least) >= last.at) return
      this.#swap(place, least)
      place = least
    }
  }

  #timeAt(place: number): number {
    return this.#heap[place]?.at ?? Number.POSITIVE_INFINITY
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap
    const [first, second] = [heap[one], heap[other]] as [Due, Due]
    heap[one] = second
    heap[other] = first
  }
}
