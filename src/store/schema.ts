import type { AuditAction } from '../model/audit.ts'
import type { PlanState } from '../model/exposure.ts'

/** The tables as the newest migration leaves them. Times are milliseconds since 1970; documents are JSON text. */
export interface Schema {
  plans: PlanRow
  capabilities: CapabilityRow
  exposures: ExposureRow
  leases: LeaseRow
  audit_lines: AuditLineRow
  audit_head: AuditHeadRow
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
}

interface CapabilityRow {
  hash: string
  plan_id: string
  digest: string
  action: 'apply' | 'remove'
  ip: string
  issued_at: number
  expires_at: number
  used_at: number | null
}

interface ExposureRow {
  host: string
  plan_id: string
  state: PlanState
  fence: number
  since: number
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
}

interface SchemaVersionRow {
  version: number
}
