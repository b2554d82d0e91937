import type { Clock } from '../primitives/clock.ts'
import type { EventStore } from '../store/ports/events.ts'

/** Orders concurrent reads of the same host. The read that started last wins, even if its answer arrives first. */
export class ReadOrder {
  readonly #newest = new Map<string, number>()
  #asked = 0

  /** Returns the number of a new read. Call it before the read starts. */
  begin(): number {
    this.#asked += 1
    return this.#asked
  }

  /** Returns false if the answer of a later read of `host` has already arrived. Otherwise this answer is now the newest. */
  arrive(host: string, asked: number): boolean {
    if (this.isOutdated(host, asked)) return false
    this.#newest.set(host, asked)
    return true
  }

  isOutdated(host: string, asked: number): boolean {
    return (this.#newest.get(host) ?? 0) > asked
  }

  forget(host: string): void {
    this.#newest.delete(host)
  }
}

/** A store that hangs must not block reads: after this time a read returns what the board has. */
const LONGEST_WAIT_MS = 1_000

/** Makes reads wait while a change is committed and shown on the board, so that all reads return the same state. */
export class ReadBarrier {
  readonly #clock: Clock
  readonly #changes = new Map<Promise<unknown>, string | undefined>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Runs a change of `host`, or of all hosts if undefined. */
  during<T>(host: string | undefined, change: () => Promise<T>): Promise<T> {
    const running = change().finally(() => this.#changes.delete(settled))
    const settled = running.catch(() => undefined)
    this.#changes.set(settled, host)
    return running
  }

  /** Resolves when the running changes of `host` (or of all hosts if undefined) have ended, or after LONGEST_WAIT_MS. */
  async passed(host?: string): Promise<void> {
    const waitedFor = [...this.#changes].filter(([, one]) => !host || !one || one === host).map(([change]) => change)
    if (waitedFor.length === 0) return
    await Promise.race([Promise.all(waitedFor), this.#clock.sleep(LONGEST_WAIT_MS, { ref: false })])
  }
}

const EVENTS_AT_ONCE = 1_000

/** Finds exposures that any instance changed. Every such change stores an event. */
export class ExposureChanges {
  readonly #store: Pick<EventStore, 'readEvents' | 'eventHead'>
  #lastSeq: number | undefined

  constructor(store: Pick<EventStore, 'readEvents' | 'eventHead'>) {
    this.#store = store
  }

  /** The hosts whose exposures changed since the last call. The first call returns none. */
  async hosts(): Promise<ReadonlySet<string>> {
    this.#lastSeq ??= await this.#store.eventHead()
    const events = await this.#store.readEvents(this.#lastSeq, EVENTS_AT_ONCE)
    this.#lastSeq = events.at(-1)?.seq ?? this.#lastSeq
    return new Set(events.filter(({ type }) => type.startsWith('exposure.')).map(({ host }) => host))
  }
}
