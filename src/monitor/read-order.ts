import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStore } from '../store/ports/events.ts'

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

/** A store that hangs must not hang every read: after so long a read tells what is known. */
const LONGEST_WAIT_MS = 1_000

/** Makes reads wait while a change is committed and brought to the board, so that all reads tell the same state. */
export class ReadBarrier {
  readonly #changes = new Map<Promise<unknown>, string | undefined>()

  /** Runs a change of `host`, or of all hosts where it is undefined. */
  during<T>(host: string | undefined, change: () => Promise<T>): Promise<T> {
    const under = change().finally(() => this.#changes.delete(settled))
    const settled = under.catch(() => undefined)
    this.#changes.set(settled, host)
    return under
  }

  /** Resolves when the changes that have begun are over: those of `host`, or all where it is undefined. */
  async passed(host?: string): Promise<void> {
    const waitedFor = [...this.#changes].filter(([, one]) => !host || !one || one === host).map(([change]) => change)
    if (waitedFor.length === 0) return
    await Promise.race([Promise.all(waitedFor), sleep(LONGEST_WAIT_MS, undefined, { ref: false })])
  }
}

const EVENTS_AT_ONCE = 1_000

/** Tells which exposures were changed, by whatever instance: every such change leaves an event. */
export class ExposureNews {
  readonly #store: Pick<EventStore, 'readEvents' | 'eventHead'>
  #heard: number | undefined

  constructor(store: Pick<EventStore, 'readEvents' | 'eventHead'>) {
    this.#store = store
  }

  /** The hosts whose exposures changed since the last call. The first call begins the listening. */
  async hosts(): Promise<ReadonlySet<string>> {
    this.#heard ??= await this.#store.eventHead()
    const events = await this.#store.readEvents(this.#heard, EVENTS_AT_ONCE)
    this.#heard = events.at(-1)?.seq ?? this.#heard
    return new Set(events.filter(({ type }) => type.startsWith('exposure.')).map(({ host }) => host))
  }
}
