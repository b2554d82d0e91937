import { type Kysely, sql } from 'kysely'
import type { Clock, Timer } from '../primitives/clock.ts'
import type { Listener } from './dialects/engine.ts'
import type { ChangeFeed } from './ports/events.ts'
import type { Schema } from './schema.ts'

/** Commits within this time are told together. */
const GATHER_MS = 20

/** Tells other instances of commits, after them and not within: a notification in a transaction would make all commits wait. */
export class CommitNotices implements ChangeFeed {
  readonly #db: Kysely<Schema>
  readonly #listener: Listener | undefined
  readonly #watchers = new Set<() => void>()
  readonly #clock: Clock
  #timer: Timer | undefined

  constructor(db: Kysely<Schema>, listener: Listener | undefined, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#listener = listener
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    this.#listener?.listen(() => {
      for (const each of this.#watchers) each()
    })
    return () => this.#watchers.delete(watcher)
  }

  isWatching(): boolean {
    return this.#listener?.isListening() ?? false
  }

  /** Others find what they were not told of at their next look. */
  committed(): void {
    if (!this.#listener) return
    const { channel, payload } = this.#listener.notice
    this.#timer ??= this.#clock.after(GATHER_MS, () => {
      this.#timer = undefined
      sql`select pg_notify(${channel}, ${payload})`.execute(this.#db).catch(() => undefined)
    })
  }

  async close(): Promise<void> {
    this.#timer?.cancel()
    await this.#listener?.close()
  }
}
