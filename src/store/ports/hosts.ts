import type { HostStatus } from '../../model/host-status.ts'

/** The last known status of every host, shared by all instances. */
export interface HostStore {
  /** Writes what is known of hosts, replacing what was. `version` must be greater than any before. */
  putHosts(statuses: readonly HostStatus[], version: number): Promise<void>
  deleteHosts(hosts: readonly string[]): Promise<void>
  /** Hosts written under a greater version, oldest writing first. */
  readHosts(afterVersion: number): Promise<HostStatus[]>
  /** How many hosts there are and the greatest version of any: cheap to ask, and tells whether to read. */
  hostsMark(): Promise<{ count: number; version: number }>
}
