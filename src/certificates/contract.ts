import { Fault } from '../model/errors.ts'
import type { AuthorityPause, LedgerLine, OrderRecord, RenewalAdvice } from '../model/ledger.ts'
import type { LeaseGuard } from '../model/run.ts'

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

/** A current or coming problem with a file, or with a folder of too many. The sentence contains nothing of the file's content. */
export interface CertificateFinding {
  readonly kind: 'too_many_files' | 'unreadable' | 'no_key' | 'chain_broken' | 'not_yet_valid' | 'expiring' | 'expired'
  readonly path: string
  /** The names of the certificate in the file, if it has one. */
  readonly names: readonly string[]
  readonly sentence: string
}

/** The certificates that Drawbridge issued or an administrator installed. Every call reflects the files on disk. Read-only. */
export interface CertificateInventory {
  /** The best certificate that covers `host` at `now` (milliseconds since 1970). */
  covering(host: string, now: number): Promise<CoveringCertificate | undefined>
  /** The same for many hosts, by host. Reads the folders once. */
  coveringEach(hosts: readonly string[], now: number): Promise<ReadonlyMap<string, CoveringCertificate>>
  withFingerprint(fingerprint: string): Promise<InstalledCertificate | undefined>
  findings(now: number): Promise<readonly CertificateFinding[]>
}

/** What the directory of an authority says, or why it cannot be read. */
export type DirectoryState =
  | {
      readonly kind: 'available'
      readonly caaIdentities: readonly string[]
      /** URL of the renewal information (RFC 9773). */
      readonly renewalInfo?: string | undefined
    }
  /** `retryAfter`: the seconds for which the authority asked for no requests. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfter?: number | undefined }

/** The directory of an ACME server. */
export interface AcmeDirectory {
  readonly url: string
  /** Creates nothing at the server and may be called at any time: results are cached. Never rejects. */
  read(): Promise<DirectoryState>
}

/** Asks an authority when it wants a certificate to be replaced. */
export interface RenewalAdvisor {
  /** Never rejects. */
  advise(certificate: Pick<InstalledCertificate, 'certificateFile'>): Promise<RenewalAdvice>
}

/** The PEM texts of a certificate and its key. */
export interface PemPair {
  /** The certificate and the chain behind it. */
  readonly certificatePem: string
  readonly keyPem: string
  readonly fingerprint: string
}

/** Remembers at most one order under way for the same names at the same directory. Durable when it resolves. */
export interface OrderBook {
  findOrder(names: string, directory: string): Promise<OrderRecord | undefined>
  /** Replaces an earlier one for the same names and directory. */
  putOrder(order: OrderRecord): Promise<void>
  deleteOrder(names: string, directory: string): Promise<void>
}

/** Secrets of orders that all instances share. Durable when a method resolves. */
export interface OrderSecrets {
  read(name: string): Promise<string | undefined>
  put(name: string, text: string): Promise<void>
  /** The text that is stored by then: `text`, unless another instance was faster. */
  putOnce(name: string, text: string): Promise<string>
  drop(name: string): Promise<void>
  /** Stores an issued pair for all instances. Repeatable. */
  publish(firstName: string, pair: PemPair): Promise<void>
}

/** The longest pause that an authority is believed. */
export const LONGEST_PAUSE_MS = 7 * 86_400_000

/** A certificate to order. */
export interface OrderRequest {
  readonly names: readonly string[]
  /** The RFC 9773 identifier of the certificate that it renews. An authority may exempt such orders from its limits. */
  readonly replaces?: string | undefined
  /** It resumes an order that was already placed and counted. */
  readonly resumes?: boolean | undefined
}

/** How much of one of the authority's limits is left. */
export interface LimitLeft {
  readonly limit: 'ordersPerAccount' | 'certificatesPerDomain' | 'certificatesPerNames' | 'failuresPerName'
  /** The domain, names or name that the limit applies to; empty for the account. */
  readonly subject: string
  readonly left: number
  readonly count: number
  readonly perSeconds: number
}

/**
 * Whether an order may be placed now. `because` is a clause; `retryAfter` is in seconds. `failures`: the number of consecutive
 * failed attempts for the same names.
 */
export type BudgetVerdict =
  | { readonly kind: 'free'; readonly failures: number; readonly limits: readonly LimitLeft[] }
  | {
      readonly kind: 'refused'
      readonly reason: 'paused' | 'backoff' | 'limit'
      readonly because: string
      readonly retryAfter: number
    }

/** Checks the limits of one authority. A check does not count as an order. */
export interface BudgetReader {
  check(request: OrderRequest): Promise<BudgetVerdict>
}

/** Keeps the limits of an authority, across restarts and together with every other instance on the same store. */
export interface OrderBudget extends BudgetReader {
  /** Must be called before an order is placed: it counts the order. Rejects with IssueFault, and counts nothing, when no order is allowed. */
  spend(request: OrderRequest): Promise<void>
  /** Records the certificate of the newest order of these names, and resets the count of failures. Repeatable: a resumed order is recorded once. */
  issued(names: readonly string[]): Promise<void>
  /** Records a failed attempt. Resolves with the same fault and the seconds until the next allowed attempt. */
  failed(request: OrderRequest, fault: IssueFault): Promise<IssueFault>
}

/** The ledger of orders. Each method is durable when it resolves. */
interface LedgerSession {
  holdLedger(directory: string): Promise<void>
  appendLedger(line: LedgerLine): Promise<void>
  readLedger(page: { directory: string; since: number; names?: string | undefined }): Promise<LedgerLine[]>
  /** `latest`: a stored end after it is replaced. */
  pauseAuthority(directory: string, until: AuthorityPause, latest: number): Promise<void>
  authorityPause(directory: string): Promise<AuthorityPause>
}

export interface LedgerBook extends LedgerSession {
  /** Atomic. */
  transaction<T>(work: (session: LedgerSession) => Promise<T>): Promise<T>
}

/** A step of an order that was reached. `challenge_left`: a proof could not be withdrawn yet. */
export interface IssueProgress {
  readonly kind: 'order_placed' | 'order_resumed' | 'finalized' | 'challenge_left' | 'failed'
  readonly detail: string
}

export type ChallengeType = 'dns-01' | 'http-01'

/**
 * Publishes the proof that we control a name, and withdraws it. Both may be repeated and reject with a Fault, or with the
 * reason of `signal` when it aborts. A responder whose messages may have an effect after it has given up on them calls `signing`
 * before each, with the second since 1970 up to which that is so; `withdraw` is given that of the proof, if it was not confirmed.
 */
export interface ChallengeResponder {
  readonly type: ChallengeType
  /** Resolves when every server that the authority may ask serves the proof, within a bounded wait. */
  present(
    host: string,
    token: string,
    keyAuthorization: string,
    signal?: AbortSignal,
    signing?: (validUntil: number) => Promise<void>,
  ): Promise<void>
  withdraw(
    host: string,
    token: string,
    keyAuthorization: string,
    signal?: AbortSignal,
    validUntil?: number,
  ): Promise<void>
}

/**
 * `unavailable`: the authority did not answer or did not decide in time; the next call resumes the order.
 * `rejected`: the authority refused. `rate_limited`: it asked for no requests for a while. `over_budget`: no request was sent,
 * to stay within the authority's limits. `challenge_failed`: the proof could not be published, or was not accepted. `local`: a
 * local file. `retryAfter` is set where a later attempt may succeed. The sentence repeats nothing of the authority's response
 * but the type of its problem.
 */
export class IssueFault extends Fault {
  override readonly name = 'IssueFault'
  readonly kind: 'unavailable' | 'rejected' | 'rate_limited' | 'over_budget' | 'challenge_failed' | 'local'
  override readonly retryAfter: number | undefined
  /** The names whose proof the authority did not accept. */
  readonly unproven: readonly string[]

  constructor(kind: IssueFault['kind'], sentence: string, retryAfter?: number, unproven: readonly string[] = []) {
    super(sentence)
    this.kind = kind
    this.retryAfter = retryAfter
    this.unproven = unproven
  }
}

/** Orders certificates from an authority. At most one new order per call; an order left by a crash is resumed. */
export interface CertificateIssuer {
  /**
   * The new pair, already written below the state folder (0600) where the inventory finds it. Rejects with IssueFault, or
   * with what the order book rejects with. Concurrent calls for the same names share one result. `replaces`: the certificate
   * that this one renews, by its name in RFC 9773. `guard`: asked directly before each request to the authority. When its
   * signal aborts, the call rejects with the reason. That is no failure of the authority: the next call resumes the order,
   * and withdraws the proofs that stay published until then. Concurrent calls go by the guard of the first one. At most 8
   * certificates are obtained at the same time. Further calls wait, and are refused when the authority asks for a pause.
   */
  issue(
    names: readonly string[],
    responder: ChallengeResponder,
    options?: { readonly replaces?: string | undefined; readonly guard?: LeaseGuard | undefined },
  ): Promise<InstalledCertificate>
  /** For a run that is given up: withdraws the proofs that a crash or an abort left behind. Rejects with IssueFault. */
  sweepChallenges(names: readonly string[], responder: ChallengeResponder, signal?: AbortSignal): Promise<void>
}

export const budgetSentence = (directory: string, because: string): string =>
  `No certificate can be ordered from ${new URL(directory).host} now: ${because}.`
