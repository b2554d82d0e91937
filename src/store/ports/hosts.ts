import type { HistorySlot } from '../../model/history.ts'
import type { HostStatus, Mute } from '../../model/host-status.ts'

/** The last known status of every host. One instance writes it, and all instances read it. */
export interface HostStore {
  /**
   * Inserts or replaces the status of each host. Repeatable. `version` must be greater than every version written
   * before.
   */
  putHosts(statuses: readonly HostStatus[], version: number): Promise<void>
  /** Deletes hosts. Repeatable: a host that does not exist is no error. */
  deleteHosts(hosts: readonly string[]): Promise<void>
  /** Hosts with a version > `afterVersion`, the lowest version first. */
  readHosts(afterVersion: number): Promise<HostStatus[]>
  /**
   * The number of hosts and their greatest version. One cheap query, with which a reader decides whether to read the
   * hosts.
   */
  hostsSummary(): Promise<{ count: number; version: number }>
  /** Mutes a host. Repeatable: a later mute replaces the earlier one. */
  putMute(host: string, mute: Mute & { readonly since: number }): Promise<void>
  /** Ends the mute of a host; with `endedBy` only one that is over then. False if there is none. Repeatable. */
  deleteMute(host: string, endedBy?: number): Promise<boolean>
  /** Every mute by host, also those that are over and were not deleted yet. */
  readMutes(): Promise<ReadonlyMap<string, Mute>>
  /** Adds the counts to those of the same host and slot. Not repeatable: a second call counts twice. */
  addHistory(slots: readonly HistorySlot[]): Promise<void>
  /** The slots of a host in `from` or later of the same unit, oldest first. */
  readHistory(host: string, from: string): Promise<HistorySlot[]>
}
