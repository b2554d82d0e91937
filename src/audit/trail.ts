import type { AuditEntry } from '../model/audit.ts'
import type { NewEvent } from '../model/event.ts'
import type { AuditStore } from '../store/ports/audit.ts'
import type { EventStore } from '../store/ports/events.ts'
import type { Transactions } from '../store/ports/store.ts'
import { RefusalFlood } from './flood.ts'

/** Writes an audit line and its event in one transaction. */
type TrailSession = AuditStore & EventStore

/** Writes the audit of the service. Every action is recorded: `record` throws when the line cannot be written. */
export class AuditTrail {
  readonly #store: TrailSession & Transactions<TrailSession>
  readonly #flood = new RefusalFlood()

  constructor(store: Transactions<TrailSession> & TrailSession) {
    this.#store = store
  }

  /** Inside a transaction pass its session, so that the line is committed or rolled back together with the action. */
  async record(entry: AuditEntry, session: TrailSession = this.#store): Promise<void> {
    if (this.#flood.note(entry, entry.at) === 'write') await session.appendAudit(entry)
  }

  /** Records a refusal and publishes its event. A refusal that is only counted has no event, so a flood fills neither table. */
  async recordAndPublish(entry: AuditEntry, event: NewEvent): Promise<void> {
    if (this.#flood.note(entry, entry.at) === 'count') return
    await this.#store.transaction(async (session) => {
      await session.appendEvent(event)
      await session.appendAudit(entry)
    })
  }

  /** Writes the counts of minutes that have ended. Call it every few seconds. */
  async flush(now: number): Promise<void> {
    await this.#write(this.#flood.drain(now))
  }

  /** Writes all counts. Call it before the store is closed. */
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
