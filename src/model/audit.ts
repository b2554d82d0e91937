import { createHash } from 'node:crypto'

/** One audit record: who did what to which plan, with which outcome. It never holds a secret. */
export interface AuditEntry {
  readonly at: number
  /** The caller's address, `drawbridge` for work that the service starts, or `console` for a command on the server. */
  readonly actor: string
  readonly network: 'internal' | 'public' | 'self'
  readonly action: AuditAction
  readonly outcome: AuditOutcome
  readonly code?: string | undefined
  readonly planId?: string | undefined
  readonly host?: string | undefined
  /** More facts, as a flat object. */
  readonly facts?: Readonly<Record<string, string | number | boolean>> | undefined
}

/**
 * `request`: a request that was refused before its action was known. `refusals`: a count of refusals that have no lines of
 * their own. `expire` and `recover`: the service removes an expired exposure, or finishes an interrupted run.
 * `resolve`: an administrator resolves a blocked plan on the server. `backup`, `restore`, `rebuild`: the same for the store.
 */
export type AuditAction =
  | 'plan'
  | 'token'
  | 'apply'
  | 'adopt'
  | 'update'
  | 'remove'
  | 'extend'
  | 'renew'
  | 'repair'
  | 'accept'
  | 'mute'
  | 'unmute'
  | 'release'
  | 'converge'
  | 'expire'
  | 'recover'
  | 'resolve'
  | 'backup'
  | 'restore'
  | 'rebuild'
  | 'request'
  | 'refusals'
  | 'prune'

/** `failed` and `rolled_back`: the change was not made. `blocked`: the change failed and could not be undone. */
type AuditOutcome = 'ok' | 'refused' | 'failed' | 'rolled_back' | 'blocked'

/** An entry with its position in the chain. `hash` covers the entry, its position and the hash of the previous line. */
export interface AuditLine extends AuditEntry {
  readonly seq: number
  readonly previous: string
  readonly hash: string
}

/** The facts of a `prune` line: the last removed line. They prove that the first remaining line is the right one. */
export type PruneFacts = { readonly throughSeq: number; readonly throughHash: string }

/** The `previous` hash of line 1. */
export const GENESIS = '0'.repeat(64)

/**
 * SHA-256 in hex over the UTF-8 text of `["drawbridge-audit-1",previous,seq,members]`, written by JSON.stringify without
 * spaces. `members` are the entry's defined members as [name, value] pairs sorted by name (UTF-16 code units); the value
 * of `facts` is written the same way. Members added to entries later leave the hashes of earlier lines as they are.
 */
export function lineHash(previous: string, seq: number, entry: AuditEntry): string {
  const text = JSON.stringify(['drawbridge-audit-1', previous, seq, sortedMembers(entry)])
  return createHash('sha256').update(text).digest('hex')
}

function sortedMembers(object: object): [string, unknown][] {
  return Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [name, typeof value === 'object' && value !== null ? sortedMembers(value) : value])
}
