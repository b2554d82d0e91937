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

/** Whether it is certain that an update changed nothing and never will. */
export const isRefused = (error: unknown): boolean => error instanceof DnsWriteFault && error.kind === 'refused'

/** `aheadSeconds`: how far our clock is ahead of the server's clock, which shows `serverSeconds` since 1970. */
export interface ServerTime {
  readonly aheadSeconds: number
  readonly serverSeconds: number
}

/** Makes durable, before an update is sent, up to which second since 1970 the server may accept it. If it rejects, nothing is sent. */
export type Signing = (validUntil: number) => Promise<void>

/**
 * Changes one zone on its primary. Each call sends one signed UPDATE, which is atomic. Rejects with DnsWriteFault. With a
 * `guard` the lease is checked directly before the update is signed, and the signature is valid no longer than the lease is
 * held: an update that is held back on its way is refused by the server as BADTIME. When the signal of the guard aborts, the
 * call rejects with its reason; whether the zone has changed is unknown then. After an unknown outcome nothing that is read
 * counts before `settle` has resolved.
 */
export interface DnsProvider {
  /** Adds all records if none of their names is in use. */
  create(records: readonly ZoneRecord[], guard?: LeaseGuard, signing?: Signing): Promise<'created' | 'in_use'>
  /** Removes these records if they are exactly the records of their names and types. */
  remove(records: readonly ZoneRecord[], guard?: LeaseGuard, signing?: Signing): Promise<'removed' | 'changed'>
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
    signing?: Signing,
  ): Promise<'replaced' | 'changed'>
  /** Adds one value to the records of its name. Repeatable. For ACME challenges. */
  addValue(record: ZoneRecord, guard?: LeaseGuard, signing?: Signing): Promise<void>
  /** Removes one value. A value that does not exist is not an error. */
  removeValue(record: ZoneRecord, guard?: LeaseGuard, signing?: Signing): Promise<void>
  /**
   * Sends a signed update that changes nothing, because its prerequisite is always false. Proves that key, clock and
   * permissions are right.
   */
  checkAccess(signal?: AbortSignal): Promise<ServerTime>
  /**
   * Asks the server the same before a change is sent to it: one that is stalled, or that does not accept our key or our time, shows
   * it here. Rejects with DnsWriteFault. Nothing was changed then, whatever its kind is.
   */
  assertAccess(signal?: AbortSignal): Promise<void>
  /**
   * Resolves when no update that was signed up to this second can be made any more: after an unknown outcome, also of another
   * process, reading the zone decides from then on. Rejects with DnsWriteFault of the kind `unknown` after a bounded wait.
   */
  settle(validUntil: number, signal?: AbortSignal): Promise<void>
}

/** The same under one lease, whose guard is in every call. */
export interface LeasedProvider {
  create(records: readonly ZoneRecord[], signing?: Signing): ReturnType<DnsProvider['create']>
  remove(records: readonly ZoneRecord[], signing?: Signing): ReturnType<DnsProvider['remove']>
  replace(
    found: readonly ZoneRecord[],
    wanted: readonly ZoneRecord[],
    signing?: Signing,
  ): ReturnType<DnsProvider['replace']>
  addValue(record: ZoneRecord, signing?: Signing): Promise<void>
  removeValue(record: ZoneRecord, signing?: Signing): Promise<void>
  assertAccess(): Promise<void>
  settle(validUntil: number): Promise<void>
}

export const leased = (provider: DnsProvider, guard: LeaseGuard): LeasedProvider => ({
  create: (records, signing) => provider.create(records, guard, signing),
  remove: (records, signing) => provider.remove(records, guard, signing),
  replace: (found, wanted, signing) => provider.replace(found, wanted, guard, signing),
  addValue: (record, signing) => provider.addValue(record, guard, signing),
  removeValue: (record, signing) => provider.removeValue(record, guard, signing),
  assertAccess: () => provider.assertAccess(guard.signal),
  settle: (validUntil) => provider.settle(validUntil, guard.signal),
})
