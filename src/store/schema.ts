import type { Generated } from 'kysely'
import type { AuditAction } from '../model/audit.ts'
import type { Badge } from '../model/badge.ts'
import type { CapabilityAction } from '../model/capability.ts'
import type { EventType } from '../model/event.ts'
import type { PlanState } from '../model/exposure.ts'
import type { LedgerLine } from '../model/ledger.ts'
import type { JournalMark, Origin, Right, RunAction, RunState } from '../model/run.ts'

/** The tables as the newest migration leaves them. Times are milliseconds since 1970; documents are JSON text. */
export interface Schema {
  plans: PlanRow
  capabilities: CapabilityRow
  exposures: ExposureRow
  runs: RunRow
  journal: JournalRow
  orders: OrderRow
  hosts: HostRow
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
  proof: string | null
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
  /** How many entries its journal has: the place of the last one. */
  entries: number
  network: Origin['network'] | null
  proven_by: Right | null
}

export interface JournalRow {
  run_id: string
  seq: number
  at: number
  step: string
  mark: JournalMark
  /** Image and detail, where there are any. */
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
  /** Grows with every writing: who reads along asks for what is newer. */
  version: number
  changed: number
  badge: Badge
  since: number | null
  /** Every other member of the status but the history. */
  status: string
  history: string
}

/** One per ACME directory that was ever ordered from. */
interface AuthorityRow {
  directory: string
  /** How many lines its ledger has had: the place of the last one. */
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
  /** Joined by commas. */
  names: string
  attempts: number
  failures: number
  next_attempt_at: number | null
  reason: string | null
  advice: string | null
}

/** A row outlives its lease, with no holder, so that its fence never repeats. */
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
  /** Every other member of the entry. JSON keeps what a text column would not: NUL and unpaired surrogates. */
  entry: string
  previous: string
  hash: string
}

/** The only row: where the chain ends, kept apart from the lines so that lines cut off at the end are missed. */
interface AuditHeadRow {
  id: number
  seq: number
  hash: string
  /** How many events there have been: the place of the newest one. */
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

/** How far a webhook has come. */
interface WebhookRow {
  name: string
  /** Up to here events have been looked at and those for this hook put into its outbox. */
  seq: number
  delivered: number
  last_delivered_at: number | null
  last_failed_at: number | null
  last_fault: string | null
}

/** One event on its way to one webhook. It goes when it has arrived. */
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
