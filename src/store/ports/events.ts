import type { EventType, NewEvent, StoredEvent } from '../../model/event.ts'

/** Events, in the order in which readers see them. */
export interface EventStore {
  /**
   * Appends one event and resolves with its id and sequence number. Call it in the transaction of the change that it
   * reports: then both are stored, or neither. Not repeatable: a second call appends a second event. Concurrent
   * appenders of events and audit lines, also of other instances, wait for each other. Inside a transaction the call
   * locks both until the transaction ends, so make it one of the last calls of the transaction.
   */
  appendEvent(event: NewEvent): Promise<StoredEvent>
  /**
   * Events with `seq` > `afterSeq`, oldest first, at most `limit`. No event becomes visible after an event with a
   * higher `seq`, so a reader that continues from its last `seq` misses none.
   */
  readEvents(afterSeq: number, limit: number): Promise<StoredEvent[]>
  /**
   * The newest events with `seq` < `beforeSeq`, oldest first. Fewer than `limit`: there are no older ones. Numbers have a gap where
   * the store was restored.
   */
  readEventsBefore(beforeSeq: number, limit: number): Promise<StoredEvent[]>
  /** The newest events of these types of one host, oldest first, at most `limit`. */
  readHostEvents(host: string, types: readonly EventType[], limit: number): Promise<StoredEvent[]>
  /**
   * The sequence number of the newest event, 0 before the first event. It never decreases, also when events are pruned.
   */
  eventHead(): Promise<number>
}

/** Tells of commits of other instances on the same store, so that readers need not wait for their next look. */
export interface ChangeFeed {
  /**
   * Calls `listener` soon after another instance has committed an event, a journal entry or host statuses. A call may be missing
   * or be one too many: whoever follows looks at regular times too. Never called on a store with one instance.
   */
  watch(listener: () => void): () => void
  /** Whether such commits are told at the moment. While they are not, readers look more often. */
  isWatching(): boolean
}
