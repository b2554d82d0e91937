import type { NewEvent, StoredEvent } from '../../model/event.ts'

/** Events in the order in which they became visible. */
export interface EventStore {
  /**
   * Appends one event; in the transaction of what it tells of it is as durable as that. Appenders are put in one order,
   * together with those of audit lines: inside a transaction everybody else waits for its end, so append last.
   */
  appendEvent(event: NewEvent): Promise<StoredEvent>
  /** Events with `seq` > `afterSeq`, oldest first, at most `limit`. An event never becomes visible after a later one. */
  readEvents(afterSeq: number, limit: number): Promise<StoredEvent[]>
  /** The place of the newest event, 0 before the first. It never goes back, whatever is pruned. */
  eventHead(): Promise<number>
}
