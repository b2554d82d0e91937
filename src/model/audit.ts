/** What happened, for the record: who, what, to which plan, with which outcome. Never a secret. */
export interface AuditEntry {
  readonly at: number
  /** The caller's address, or `drawbridge` for what the service does by itself. */
  readonly actor: string
  readonly network: 'internal' | 'public' | 'self'
  readonly action: 'plan' | 'token' | 'refusals' | 'prune'
  readonly outcome: 'ok' | 'refused'
  readonly code?: string | undefined
  readonly planId?: string | undefined
  readonly host?: string | undefined
  /** Further facts, flat. */
  readonly facts?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** An entry in its place in the chain. `hash` covers the entry, its place and the line before. */
export interface AuditLine extends AuditEntry {
  readonly seq: number
  readonly previous: string
  readonly hash: string
}
