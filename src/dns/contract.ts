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
   * is a `no_answer`. The reader's time limit counts from `since` (`performance.now()`, by default now), so several
   * rounds of one look share one limit by passing the look's beginning.
   */
  ask(questions: readonly DnsQuestion[], since?: number): Promise<readonly DnsOutcome[]>
}
