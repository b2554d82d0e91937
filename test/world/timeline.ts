/** A process that may be stopped or may have died. Its timers wait or never fire. */
interface Owner {
  readonly isAwake: boolean
  readonly isDead: boolean
}

interface Event {
  at: number
  readonly order: number
  readonly call: () => void
  readonly owner: Owner | undefined
  /** A beat has no consequence that anybody waits for. */
  readonly isBeat: boolean
}

/**
 * Requests to the file system that have not been answered, a checkpoint of the store on its thread, and turns of the loop. Everything
 * else waits for the timeline.
 */
const isUnderWay = (resource: string): boolean =>
  resource.startsWith('FSReq') || resource.endsWith('CloseReq') || ['MessagePort', 'Immediate'].includes(resource)

/** Resolves when nothing runs any more: everything has ended or waits for an event of the timeline. */
async function quiet(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve))
  while (process.getActiveResourcesInfo().some(isUnderWay))
}

/** The time of the world. It moves from event to event, when nothing can happen at the present moment any more. */
export class Timeline {
  #now: number
  #orders = 0
  #events: Event[] = []
  /** Events of processes that are stopped. */
  #held: Event[] = []

  constructor(now: number) {
    this.#now = now
  }

  readonly now = (): number => this.#now

  /** Calls `call` after this time. Returns what takes it back. */
  after(ms: number, call: () => void, owner?: Owner, isBeat = false): () => void {
    this.#orders += 1
    const event: Event = { at: this.#now + Math.max(0, ms), order: this.#orders, call, owner, isBeat }
    this.#insert(event)
    return () => {
      this.#events = this.#events.filter((one) => one !== event)
      this.#held = this.#held.filter((one) => one !== event)
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve))
  }

  /** The timers of a process that was stopped fire now, if their time has come. */
  wake(owner: Owner): void {
    const woken = this.#held.filter((event) => event.owner === owner)
    this.#held = this.#held.filter((event) => event.owner !== owner)
    for (const event of woken) this.#insert({ ...event, at: Math.max(event.at, this.#now) })
  }

  /** Lets this much time pass. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await quiet()
    for (let next = this.#next(end); next; next = this.#next(end)) await this.#fire(next)
    this.#now = end
  }

  /** Lets time pass until `work` settles, at most `limitMs`. Resolves with whether it did. */
  async until(work: Promise<unknown>, limitMs: number): Promise<boolean> {
    let isSettled = false
    const settle = () => {
      isSettled = true
    }
    work.then(settle, settle)
    const end = this.#now + limitMs
    await quiet()
    while (!isSettled) {
      const next = this.#next(end)
      if (!next) return false
      await this.#fire(next)
    }
    return true
  }

  /** Waits for work that nothing but time delays. */
  async untilSettled<T>(work: Promise<T>): Promise<T> {
    if (await this.until(work, 60_000)) return work
    throw new Error('The work has no end.')
  }

  async #fire({ at, call, isBeat }: Event): Promise<void> {
    this.#now = Math.max(this.#now, at)
    call()
    if (!isBeat) await quiet()
  }

  /** The first event that is due by then. Those of dead processes are dropped, those of stopped ones are held. */
  #next(end: number): Event | undefined {
    for (;;) {
      const [first] = this.#events
      if (!first || first.at > end) return undefined
      this.#events.shift()
      if (first.owner?.isDead) continue
      if (!first.owner || first.owner.isAwake) return first
      this.#held.push(first)
    }
  }

  #insert(event: Event): void {
    const isLater = (one: Event) => one.at > event.at || (one.at === event.at && one.order > event.order)
    const at = this.#events.findIndex(isLater)
    if (at < 0) this.#events.push(event)
    else this.#events.splice(at, 0, event)
  }
}
