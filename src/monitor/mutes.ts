import type { AuditEntry } from '../model/audit.ts'
import type { NewEvent } from '../model/event.ts'
import type { Mute } from '../model/host-status.ts'
import type { Clock } from '../primitives/clock.ts'
import type { AuditStore } from '../store/ports/audit.ts'
import type { EventStore } from '../store/ports/events.ts'
import type { HostStore } from '../store/ports/hosts.ts'
import type { Transactions } from '../store/ports/store.ts'
import type { Board } from './board.ts'

type Session = Pick<HostStore, 'deleteMute'> & EventStore & AuditStore

interface MutesParts {
  readonly store: Pick<HostStore, 'readMutes'> & Transactions<Session>
  readonly board: Board
  /** The hosts that the configuration mutes. Another map after a reload. */
  readonly configured: () => ReadonlyMap<string, Mute>
  /** Called with the hosts that are muted or not muted any more. */
  readonly onChange: (hosts: readonly string[]) => void
  readonly clock: Clock
}

/** How often the mutes of other instances are read. There are few, and it is one query. */
const READ_MS = 1_000

/** Keeps the mutes on the board: those of the store, of any instance, and those of the configuration. */
export class Mutes {
  readonly #parts: MutesParts
  /** By the monotonic clock, which nobody sets back. */
  #readAt = Number.NEGATIVE_INFINITY

  constructor(parts: MutesParts) {
    this.#parts = parts
  }

  /** Call it often. Rejects if the store does not answer; then the board keeps what it has. */
  async refresh(): Promise<void> {
    const { clock } = this.#parts
    if (clock.monotonic() - this.#readAt >= READ_MS) await this.load()
  }

  /** Shows the mutes of the store on the board. Mutes that are over are ended, once over all instances. */
  async load(): Promise<void> {
    const { store, board, configured, onChange, clock } = this.#parts
    const at = clock.now()
    this.#readAt = clock.monotonic()
    const stored = [...(await store.readMutes())]
    const isOver = ([, { until }]: [string, Mute]) => until !== null && until <= at
    const inForce = stored.filter((mute) => !isOver(mute))
    onChange(board.setMutes(new Map([...configured(), ...inForce])))
    // After the board: who is told of the end must not read the mute any more.
    for (const [host] of stored.filter(isOver)) await this.#end(host, at)
  }

  async #end(host: string, at: number): Promise<void> {
    const facts = { ended: true, actor: 'drawbridge' }
    const event: NewEvent = { at, type: 'host.unmuted', host, facts }
    const line: AuditEntry = { at, actor: 'drawbridge', network: 'self', action: 'unmute', outcome: 'ok', host }
    await this.#parts.store.transaction(async (session) => {
      if (!(await session.deleteMute(host, at))) return
      await session.appendEvent(event)
      await session.appendAudit(line)
    })
  }
}
