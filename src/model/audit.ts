import { createHash } from 'node:crypto'

/** What happened, for the record: who, what, to which plan, with which outcome. Never a secret. */
export interface AuditEntry {
  readonly at: number
  /** The caller's address, `drawbridge` for what the service does by itself, or `console` for a command on its own machine. */
  readonly actor: string
  readonly network: 'internal' | 'public' | 'self'
  readonly action: AuditAction
  readonly outcome: AuditOutcome
  readonly code?: string | undefined
  readonly planId?: string | undefined
  readonly host?: string | undefined
  /** Further facts, flat. */
  readonly facts?: Readonly<Record<string, string | number | boolean>> | undefined
}

/**
 * `request` is one refused before it was known what it wanted; `refusals` counts what was not written one by one.
 * `expire` and `recover` are what the service begins by itself: the end of an exposure's life, a run left behind.
 * `resolve` is what a person on the server does about a plan that is blocked.
 */
export type AuditAction =
  | 'plan'
  | 'token'
  | 'apply'
  | 'remove'
  | 'extend'
  | 'renew'
  | 'expire'
  | 'recover'
  | 'resolve'
  | 'request'
  | 'refusals'
  | 'prune'

/** `failed` and `rolled_back` tell of a change that did not come to be, `blocked` of one that could not be put back. */
type AuditOutcome = 'ok' | 'refused' | 'failed' | 'rolled_back' | 'blocked'

/** An entry in its place in the chain. `hash` covers the entry, its place and the line before. */
export interface AuditLine extends AuditEntry {
  readonly seq: number
  readonly previous: string
  readonly hash: string
}

/** The facts of a `prune` line: the last line removed. They vouch for the first one kept. */
export type PruneFacts = { readonly throughSeq: number; readonly throughHash: string }

/** What the first line of all follows. */
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
