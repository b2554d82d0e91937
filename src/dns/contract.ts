import { Fault } from '../model/errors.ts'
import type { FairClock } from '../primitives/fair-clock.ts'

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
  /** Where an alias leads: present exactly when `type` is CNAME. */
  readonly target?: string
}

export interface CaaProperty {
  readonly critical: boolean
  /** Lower case. */
  readonly tag: string
  readonly value: string
}

/** What the server said, whole: never truncated, and to exactly the question asked. */
export interface DnsAnswer {
  readonly kind: 'answer'
  readonly rcode: string
  readonly authoritative: boolean
  readonly recursionAvailable: boolean
  readonly answers: readonly DnsRecord[]
  readonly authority: readonly DnsRecord[]
}

/** There is no answer to rely on. `unaskable`: no message can carry the question, as with a name that is too long. */
export interface NoAnswer {
  readonly kind: 'no_answer'
  readonly reason: 'timeout' | 'unreachable' | 'malformed' | 'unaskable'
}

export type DnsOutcome = DnsAnswer | NoAnswer

/** Asks one server and can do nothing else. */
export interface DnsReader {
  /** The server's address and port, for sentences. */
  readonly server: string
  /**
   * Asks all questions at the same time and gives their outcomes in the same order. Never rejects: whatever goes wrong
   * is a `no_answer`. The reader's time limit counts on `clock`, by default one of its own, so several rounds of one
   * look share one limit by passing the look's clock.
   */
  ask(questions: readonly DnsQuestion[], clock?: FairClock): Promise<readonly DnsOutcome[]>
}

/** What a name leads to. `own` stands at the name itself, an alias among it; `final` are the addresses at the end. */
export type AddressAnswer =
  | { readonly kind: 'found'; readonly own: readonly string[]; readonly final: readonly string[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'uncertain'; readonly reason: string }

/**
 * A record to be written. Names canonical, the value of a CNAME among them; the value of a TXT is its text as it stands,
 * of any length.
 */
export interface ZoneRecord {
  readonly name: string
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'TXT'
  readonly ttl: number
  readonly value: string
}

/**
 * `refused`: nothing changed, since the server said no or nothing could be sent to it. `unknown`: no genuine answer came
 * (silence, a lost connection, an answer that is not signed with our key); the change may or may not have been made: look.
 */
export class DnsWriteFault extends Fault {
  readonly kind: 'refused' | 'unknown'

  constructor(kind: DnsWriteFault['kind'], sentence: string) {
    super(sentence)
    this.kind = kind
  }
}

/** Changes one zone on its primary. Each call is one signed UPDATE: all of it or nothing. Rejects with DnsWriteFault. */
export interface DnsProvider {
  /** Adds all records, only if none of their names is in use. */
  create(records: readonly ZoneRecord[]): Promise<'created' | 'in_use'>
  /** Removes exactly these records, only if each name's set of that type is exactly what is given. */
  remove(records: readonly ZoneRecord[]): Promise<'removed' | 'changed'>
  /** Adds one value to whatever stands there; twice is once. For challenges. */
  addValue(record: ZoneRecord): Promise<void>
  /** Takes away that value only; a value that is not there is fine. */
  removeValue(record: ZoneRecord): Promise<void>
  /**
   * A signed update that changes nothing because its prerequisite cannot hold: proves key, clock and rights. Tells by how
   * many seconds our clock is ahead of the server's.
   */
  checkAccess(): Promise<{ readonly aheadSeconds: number }>
}
