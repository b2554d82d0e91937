import { Fault } from '../model/fault.ts'

/** A certificate in one of the configured folders whose private key is there too. */
export interface InstalledCertificate {
  /** The DNS names it was issued for, lower case, wildcards with their asterisk. */
  readonly names: readonly string[]
  readonly notBefore: Date
  readonly notAfter: Date
  /** SHA-256 of the certificate, as upper-case pairs with colons. */
  readonly fingerprint: string
  /** In hex. */
  readonly serial: string
  /** Whether Drawbridge got it from an authority, and so renews it. */
  readonly issued: boolean
  /** The file with the certificate and the longest chain behind it. */
  readonly certificateFile: string
  readonly keyFile: string
}

export interface CoveringCertificate extends InstalledCertificate {
  /** Whether the host is covered by a wildcard name. */
  readonly byWildcard: boolean
}

/** What is wrong with a file, or soon will be, in a sentence that repeats nothing of its content. */
export interface CertificateFinding {
  readonly kind: 'unreadable' | 'no_key' | 'chain_broken' | 'not_yet_valid' | 'expiring' | 'expired'
  readonly path: string
  /** Of the certificate in it, where there is one. */
  readonly names: readonly string[]
  readonly sentence: string
}

/** Certificates that Drawbridge issued or an administrator placed, as they lie on disk at the moment of each question. Reads only. */
export interface CertificateInventory {
  /** The best certificate that covers `host` at `now` (milliseconds since 1970). */
  covering(host: string, now: number): Promise<CoveringCertificate | undefined>
  withFingerprint(fingerprint: string): Promise<InstalledCertificate | undefined>
  findings(now: number): Promise<readonly CertificateFinding[]>
}

export type DirectoryLook =
  | { readonly kind: 'available'; readonly caaIdentities: readonly string[] }
  | { readonly kind: 'unavailable'; readonly reason: string }

/** An ACME server's directory. Looking at it creates nothing there. */
export interface AcmeDirectory {
  readonly url: string
  /** May be called by anyone at any time: the server is not asked more often than is good for it. Never rejects. */
  look(): Promise<DirectoryLook>
}

/** PEM texts for whoever serves the certificate. */
export interface PemPair {
  /** The certificate and the chain behind it. */
  readonly certificatePem: string
  readonly keyPem: string
  readonly fingerprint: string
}

/** An order that was placed, so that a crash resumes it instead of ordering again. The key is in a file. */
export interface OrderRecord {
  /** The names joined by a comma. */
  readonly names: string
  readonly directory: string
  readonly url: string
  readonly keyFile: string
  readonly createdAt: number
}

/** Remembers at most one order under way for the same names at the same directory. Durable when it resolves. */
export interface OrderBook {
  findOrder(names: string, directory: string): Promise<OrderRecord | undefined>
  /** Replaces an earlier one for the same names and directory. */
  putOrder(order: OrderRecord): Promise<void>
  deleteOrder(names: string, directory: string): Promise<void>
}

/** Where an order stands, told as it goes. `challenge_left`: a proof could not be taken away yet. */
export interface IssueProgress {
  readonly kind: 'order_placed' | 'order_resumed' | 'challenge_set' | 'finalized' | 'challenge_left'
  readonly detail: string
}

/** Shows the authority that a name is ours, and takes the proof away again. Both may be repeated and reject with a Fault. */
export interface ChallengeResponder {
  readonly type: 'dns-01' | 'http-01'
  /** Resolves when the proof can be seen by everyone who may look, within a bounded wait. */
  present(host: string, token: string, keyAuthorization: string): Promise<void>
  withdraw(host: string, token: string, keyAuthorization: string): Promise<void>
}

/**
 * `unavailable`: the authority cannot be asked, or did not decide in time; the order is resumed by the next call.
 * `rejected`: it said no. `rate_limited` carries the seconds to wait. `challenge_failed`: the proof was not seen, or could
 * not be shown. `local`: our own disk. The sentence holds nothing the authority said but the type of its problem.
 */
export class IssueFault extends Fault {
  override readonly name = 'IssueFault'
  readonly kind: 'unavailable' | 'rejected' | 'rate_limited' | 'challenge_failed' | 'local'
  override readonly retryAfter: number | undefined

  constructor(kind: IssueFault['kind'], sentence: string, retryAfter?: number) {
    super(sentence)
    this.kind = kind
    this.retryAfter = retryAfter
  }
}

/** Gets certificates from an authority. At most one new order per call; an order left by a crash is resumed. */
export interface CertificateIssuer {
  /**
   * The new pair, already written below the state folder (0600) where the inventory finds it. Rejects with IssueFault, or
   * with what the order book rejects with. Calls for the same names at the same time are one.
   */
  issue(names: readonly string[], responder: ChallengeResponder): Promise<InstalledCertificate>
  /** For a run that is given up: takes away the proofs that a crash left behind. Rejects with IssueFault. */
  sweepChallenges(names: readonly string[], responder: ChallengeResponder): Promise<void>
}
