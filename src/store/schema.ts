import type { Generated } from 'kysely'
import type { AuditAction } from '../model/audit.ts'
import type { Badge } from '../model/badge.ts'
import type { CapabilityAction } from '../model/capability.ts'
import type { EventType } from '../model/event.ts'
import type { PlanState } from '../model/exposure.ts'
import type { LedgerLine } from '../model/ledger.ts'
import type { JournalMark, Origin, Right, RunAction, RunState } from '../model/run.ts'
import type { Unconfirmed } from './ports/exposures.ts'

/** The tables after the newest migration. Times are milliseconds since 1970. Documents are JSON text. */
export interface Schema {
  plans: PlanRow
  capabilities: CapabilityRow
  exposures: ExposureRow
  runs: RunRow
  journal: JournalRow
  orders: OrderRow
  hosts: HostRow
  host_history: HostHistoryRow
  mutes: MuteRow
  authorities: AuthorityRow
  ledger: LedgerRow
  renewals: RenewalRow
  leases: LeaseRow
  audit_lines: AuditLineRow
  audit_head: AuditHeadRow
  events: EventRow
  webhooks: WebhookRow
  deliveries: DeliveryRow
  schema_versions: SchemaVersionRow
  store_identity: StoreIdentityRow
  instances: InstanceRow
  secrets: SecretRow
  certificates: CertificateRow
  request_counts: RequestCountRow
}

export interface PlanRow {
  plan_id: string
  host: string
  state: PlanState
  digest: string
  created_at: number
  expires_at: number
  created_by: string
  url: string
  request: string
  checks: string
  changes: string
  steps: string
  proof: string
  exposure_id: string
  network: Origin['network']
}

interface CapabilityRow {
  hash: string
  plan_id: string
  digest: string
  action: CapabilityAction
  ip: string
  issued_at: number
  expires_at: number
  used_at: number | null
}

export interface ExposureRow {
  host: string
  plan_id: string
  state: PlanState
  fence: number
  since: number
  receipt: string | null
  expires_at: number | null
  run_id: string | null
  unconfirmed: Generated<Unconfirmed | null>
}

export interface RunRow {
  run_id: string
  plan_id: string
  host: string
  action: RunAction
  state: RunState
  holder: string
  fence: number
  actor: string
  started_at: number
  finished_at: number | null
  /** The number of journal entries, which is the sequence number of the last entry. */
  entries: number
  network: Origin['network']
  proven_by: Right
}

export interface JournalRow {
  run_id: string
  seq: number
  at: number
  step: string
  mark: JournalMark
  /** JSON of image and detail. */
  content: string
}

interface OrderRow {
  names: string
  directory: string
  url: string
  key_file: string
  created_at: number
}

export interface HostRow {
  host: string
  /** Grows with every write. Other instances read the rows with a greater version than they know. */
  version: number
  changed: number
  badge: Badge
  since: number | null
  /** JSON of all other members of the status except the history. */
  status: string
  history: string
}

/** The checks of a host in one hour or day. */
interface HostHistoryRow {
  host: string
  /** `h` or `d`, then the number of the hour or day since 1970 in seven digits. */
  slot: string
  checks: number
  succeeded: number
  /** The number of checks with a latency. */
  answers: number
  latency_total: number
}

interface MuteRow {
  host: string
  since: number
  until: number | null
  muted_by: string
  note: string | null
}

/** One row per ACME directory that was ever used for an order. */
interface AuthorityRow {
  directory: string
  /** The number of lines ever appended to its ledger, which is the sequence number of the last line. */
  lines: number
  new_orders_paused_until: number
  paused_until: number
}

export interface LedgerRow {
  directory: string
  seq: number
  at: number
  names: string
  kind: LedgerLine['kind']
  unproven: string
}

export interface RenewalRow {
  fingerprint: string
  /** Names, joined by commas. */
  names: string
  attempts: number
  failures: number
  next_attempt_at: number | null
  reason: string | null
  advice: string | null
}

/** A row stays after its lease ends, with no holder, so that no fence is given twice. */
export interface LeaseRow {
  name: string
  holder: string | null
  fence: number
  expires_at: number
}

export interface AuditLineRow {
  seq: number
  at: number
  action: AuditAction
  /**
   * JSON of all other members of the entry. JSON keeps NUL and unpaired surrogates, which a text column cannot hold.
   */
  entry: string
  previous: string
  hash: string
}

/**
 * The only row holds the end of the chain. It is apart from the lines, so that lines cut off at the end are noticed.
 */
interface AuditHeadRow {
  id: number
  seq: number
  hash: string
  /** The number of events ever appended, which is the sequence number of the newest event. */
  events: Generated<number>
}

export interface EventRow {
  seq: number
  id: string
  at: number
  type: EventType
  host: string
  plan_id: string | null
  facts: string
}

interface WebhookRow {
  name: string
  /** Events up to this sequence number were queued for this webhook, if it wants them. */
  seq: number
  delivered: number
  last_delivered_at: number | null
  last_failed_at: number | null
  last_fault: string | null
}

/** One event that is queued for one webhook. The row is deleted after the delivery. */
interface DeliveryRow {
  hook: string
  seq: number
  host: string
  state: 'pending' | 'dead'
  tries: number
  due_at: number
  fault: string | null
}

interface SchemaVersionRow {
  version: number
}

/** The only row. */
interface StoreIdentityRow {
  id: number
  epoch: number
  store_id: Generated<string>
  /** The key with which new secrets are sealed. Null before the first one. */
  key_id: Generated<string | null>
  last_backup_at: Generated<number | null>
}

/** A service that runs on this store, or did. */
interface InstanceRow {
  name: string
  /** A random text of its process. */
  process: string
  address: string
  version: string
  /** JSON: the servers whose edges it can change. */
  edges: string
  /** JSON: the ids of the keys that it has. */
  keys: string
  started_at: number
  alive_until: number
}

interface SecretRow {
  name: string
  key_id: string
  sealed: string
  written_at: number
}

/** An issued certificate. Its key is a secret. */
export interface CertificateRow {
  fingerprint: string
  first_name: string
  chain: string
  stored_at: number
}

interface RequestCountRow {
  counted: string
  window_end: number
  requests: number
}
