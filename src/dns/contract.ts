import { Fault } from '../model/errors.ts'
import type { ZoneRecord } from '../model/receipt.ts'
import type { LeaseGuard } from '../model/run.ts'
import type { FairClock } from '../primitives/fair-clock.ts'

export type { ZoneRecord } from '../model/receipt.ts'

/** A question to one DNS server. `type` is a mnemonic or `TYPEnnn`; `over: 'tcp'` skips UDP. */
export interface DnsQuestion {
  readonly name: string
  readonly type: string
  readonly over?: 'tcp'
}

/** One record of class IN. Names are lower case, without a trailing dot; `rdata` is uncompressed and comparable. */
export interface DnsRecord {
  readonly owner: string
  readonly type: string
  readonly ttl: number
  readonly rdata: Buffer
  /** Present exactly when `type` is CAA. */
  readonly caa?: CaaProperty
  /** The target of an alias. Present exactly when `type` is CNAME. */
  readonly target?: string
}

export interface CaaProperty {
  readonly critical: boolean
  /** Lower case. */
  readonly tag: string
  readonly value: string
}

/** A complete answer to exactly this question. It is never truncated. */
export interface DnsAnswer {
  readonly kind: 'answer'
  readonly rcode: string
  readonly authoritative: boolean
  readonly recursionAvailable: boolean
  readonly answers: readonly DnsRecord[]
  readonly authority: readonly DnsRecord[]
}

/** There is no reliable answer. `unaskable`: a DNS message cannot contain the question, for example because the name is too long. */
export interface NoAnswer {
  readonly kind: 'no_answer'
  readonly reason: 'timeout' | 'unreachable' | 'malformed' | 'unaskable'
}

export type DnsOutcome = DnsAnswer | NoAnswer

/** Sends queries to one server. It cannot send updates. */
export interface DnsReader {
  /** The server's address and port, for messages. */
  readonly server: string
  /**
   * Asks all questions at the same time. The outcomes have the order of the questions. Every failure is a `no_answer`: it
   * rejects only when `signal` aborts, with its reason.
   */
  ask(questions: readonly DnsQuestion[], options?: AskOptions): Promise<readonly DnsOutcome[]>
}

interface AskOptions {
  /** The time limit is measured on this clock: calls that pass the same clock share one limit. */
  readonly clock?: FairClock
  readonly signal?: AbortSignal | undefined
}

/** `own`: the addresses or the alias at the name itself. `final`: the addresses after following aliases. */
export type AddressAnswer =
  | { readonly kind: 'found'; readonly own: readonly string[]; readonly final: readonly string[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'uncertain'; readonly reason: string }

/**
 * `refused`: nothing changed, because the server refused or no message was sent. `unknown`: there is no authentic answer (a
 * timeout, a lost connection, an answer that is not signed with our key). The zone may have changed: the caller must read it.
 */
export class DnsWriteFault extends Fault {
  readonly kind: 'refused' | 'unknown'

  constructor(kind: DnsWriteFault['kind'], sentence: string) {
    super(sentence)
    this.kind = kind
  }
}

/**
 * Changes one zone on its primary. Each call sends one signed UPDATE, which is atomic. Rejects with DnsWriteFault. With a
 * `guard` the lease is checked directly before the update is signed, and the signature is valid no longer than the lease is
 * held: an update that is held back on its way is refused by the server as BADTIME. When the signal of the guard aborts, the
 * call rejects with its reason; whether the zone has changed is unknown then.
 */
export interface DnsProvider {
  /** Adds all records if none of their names is in use. */
  create(records: readonly ZoneRecord[], guard?: LeaseGuard): Promise<'created' | 'in_use'>
  /** Removes these records if they are exactly the records of their names and types. */
  remove(records: readonly ZoneRecord[], guard?: LeaseGuard): Promise<'removed' | 'changed'>
  /**
   * Puts `wanted` in the place of `found`, if the sets of `found` are exactly as given and a name without any record in
   * `found` is not in use. `changed`: it is not so, and nothing was written. Records in both stay. A record of a type that
   * neither list names stays too, unless it is known to exclude what is wanted: then the answer is `changed`. A TTL is
   * written and not compared. `replace(wanted, found)` is the undo.
   */
  replace(
    found: readonly ZoneRecord[],
    wanted: readonly ZoneRecord[],
    guard?: LeaseGuard,
  ): Promise<'replaced' | 'changed'>
  /** Adds one value to the records of its name. Repeatable. For ACME challenges. */
  addValue(record: ZoneRecord, guard?: LeaseGuard): Promise<void>
  /** Removes one value. A value that does not exist is not an error. */
  removeValue(record: ZoneRecord, guard?: LeaseGuard): Promise<void>
  /**
   * Sends a signed update that changes nothing, because its prerequisite is always false. Proves that key, clock and
   * permissions are right. `aheadSeconds`: how far our clock is ahead of the server's clock.
   */
  checkAccess(signal?: AbortSignal): Promise<{ readonly aheadSeconds: number }>
}
