import type { AuditEntry } from '../model/audit.ts'
import type { NewEvent } from '../model/event.ts'
import type { AuditStore } from '../store/ports/audit.ts'
import type { EventStore } from '../store/ports/events.ts'
import type { Transactions } from '../store/ports/store.ts'
import { RefusalFlood } from './flood.ts'

/** A line and its event are written together. */
type TrailSession = AuditStore & EventStore

/** Where the service says what it did. Nothing happens unrecorded: when a line cannot be written, `record` throws. */
export class AuditTrail {
  readonly #store: TrailSession & Transactions<TrailSession>
  readonly #flood = new RefusalFlood()

  constructor(store: Transactions<TrailSession> & TrailSession) {
    this.#store = store
  }

  /** Inside a transaction pass its session, so that the line stands or falls with what it tells of. */
  async record(entry: AuditEntry, session: TrailSession = this.#store): Promise<void> {
    if (this.#flood.note(entry, entry.at) === 'write') await session.appendAudit(entry)
  }

  /** A refusal that is told to listeners, too. One that is only counted is not told: a flood fills neither table. */
  async recordAndTell(entry: AuditEntry, event: NewEvent): Promise<void> {
    if (this.#flood.note(entry, entry.at) === 'count') return
    await this.#store.transaction(async (session) => {
      await session.appendEvent(event)
      await session.appendAudit(entry)
    })
  }

  /** Writes what was counted in minutes that are over. To be called every few seconds. */
  async flush(now: number): Promise<void> {
    await this.#write(this.#flood.drain(now))
  }

  /** Writes everything that was counted, before the store is closed. */
  async finish(now: number): Promise<void> {
    await this.#write(this.#flood.drainAll(now))
  }

  async #write(lines: readonly AuditEntry[]): Promise<void> {
    if (lines.length === 0) return
    try {
      await this.#store.transaction(async (session) => {
        for (const line of lines) await session.appendAudit(line)
      })
    } catch (error) {
      for (const line of lines) this.#flood.putBack(line)
      throw error
    }
  }
}
