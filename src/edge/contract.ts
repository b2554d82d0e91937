import type { Endpoint } from '../model/address.ts'
import type { NoAnswerReason } from '../model/badge.ts'
import { Fault } from '../model/errors.ts'
import type { ProxyFact } from '../model/finding.ts'

/** What an edge serves for one exposure. */
export interface Site {
  readonly host: string
  readonly planId: string
  /** `http://address:port`, from the registry; never a caller's text. */
  readonly target: string
  /** Present exactly when the site is served over HTTPS (and http redirects to it). */
  readonly certificate?: SiteCertificate | undefined
  /** Serve ACME http-01 answers for this host: token -> key authorization. */
  readonly challenges?: Readonly<Record<string, string>> | undefined
  /** The plan's secret, by which its entry is known. Without it the files are those of 0.1. */
  readonly proof?: string | undefined
}

export interface SiteCertificate {
  /** Names the pair: the same certificate is stored once for all hosts that use it. */
  readonly fingerprint: string
  readonly certificatePem: string
  readonly keyPem: string
}

/** `path` is relative to the edge's own folder; `content` null: it must not be there. `secret` ones are 0600. */
export interface EdgeFile {
  readonly path: string
  readonly content: string | null
  readonly secret: boolean
}

/** SHA-256 of what stands at a path, in hex; null when nothing does. Whatever is no regular file has no hash of that form. */
export interface FileHash {
  readonly path: string
  readonly hash: string | null
}

/** `files` replace what stands, which must be `expected` or `files` already: nobody else's edit is ever overwritten. */
export interface EdgeChange {
  readonly files: readonly EdgeFile[]
  readonly expected: readonly FileHash[]
}

export interface EdgeQuestion {
  readonly host: string
  readonly path: string
  readonly tls: boolean
  /** The secret of the plan whose entry should answer: then the answer says whether it did. */
  readonly proof?: string | undefined
}

export type EdgeAnswer =
  | {
      readonly kind: 'answer'
      readonly httpStatus: number
      readonly latencyMs: number
      /** Present when a proof was asked for. `other`: a server block answered that is not the entry of that plan. */
      readonly entry?: 'ours' | 'other'
      /** With TLS: fingerprint and names of the certificate that was served. */
      readonly certificate?: {
        readonly fingerprint: string
        readonly names: readonly string[]
        /** Whether it is for the host that was asked for. */
        readonly coversHost: boolean
        readonly notBefore: string
        readonly notAfter: string
      }
    }
  | {
      readonly kind: 'no_answer'
      readonly reason: NoAnswerReason
    }

/**
 * `config_broken`: the configuration was invalid before we touched it. `change_invalid`: ours does not pass; nothing live
 * was touched. `changed_meanwhile`: a file is not what was expected; nothing was written. `write_failed`: disk or rights.
 * `not_reloaded`: the new configuration stands on disk, but no proof came that it runs. `unavailable`: no such nginx.
 * `logs_keys`: nginx logs at debug level, which writes private keys into a log; nothing was written.
 * The sentence never holds configuration text or a raw log line.
 */
export class EdgeFault extends Fault {
  override readonly code: Fault['code']
  readonly kind:
    | 'config_broken'
    | 'change_invalid'
    | 'changed_meanwhile'
    | 'write_failed'
    | 'not_reloaded'
    | 'unavailable'
    | 'logs_keys'

  constructor(kind: EdgeFault['kind'], sentence: string) {
    super(sentence)
    this.kind = kind
    this.code = kind === 'config_broken' || kind === 'logs_keys' ? 'proxy_config_broken' : undefined
  }
}

/**
 * One nginx that serves exposures, on this machine or another. All calls may be repeated. Callers hold the edge's lease
 * from `filesFor` or `filesWithout` until the end of `reload`, and during `prepare`: an edge itself keeps no order among
 * callers. `look`, `read` and `ask` may be called at any time.
 */
export interface Edge {
  readonly server: string
  /** Makes sure that our own base files stand, that nginx includes them and, where it runs, that it serves them. */
  prepare(): Promise<void>
  /** Rejects with `config_broken` when what is on disk would not load. */
  assertValid(): Promise<void>
  /** Rejects with `logs_keys` when nginx is told to log at debug level: private keys would stand in its log. */
  assertNoDebugLog(): Promise<void>
  /** The files that make up a site here, and those a removal of it takes away. A certificate still used by others stays. */
  filesFor(site: Site): Promise<readonly EdgeFile[]>
  /** Of these, those that give a host its certificate: the pair, which may stand beside others, and the entry that names it. */
  certificateFiles(host: string, certificate: SiteCertificate): readonly EdgeFile[]
  /** Whether a file is one of those. All others stay as they are when a certificate is replaced. */
  isCertificateFile(path: string): boolean
  /** The removal of pairs that no host's entry names. */
  unusedCertificates(): Promise<readonly EdgeFile[]>
  filesWithout(host: string): Promise<readonly EdgeFile[]>
  hashFiles(paths: readonly string[]): Promise<readonly FileHash[]>
  /** For backups and put-backs. */
  read(paths: readonly string[]): Promise<readonly EdgeFile[]>
  /**
   * Tests the change in a shadow configuration. Nothing that is live is touched. Rejects with `config_broken` when what is
   * on disk would not load even without the change, and with `logs_keys` when the change brings a private key that nginx would
   * write into a log. `begun`: from now on it only takes time.
   */
  validate(change: EdgeChange, begun?: () => void): Promise<void>
  /** Puts the files in place, each by atomic rename with fsync of file and folder. Only for what `validate` passed. */
  swap(change: EdgeChange): Promise<void>
  /** Loads what is on disk and proves it: old workers gone, the new ones answer. Rejects with `not_reloaded` only. */
  reload(): Promise<void>
  /** Asks the edge itself, by its address, as a visitor of the host would. */
  ask(question: EdgeQuestion): Promise<EdgeAnswer>
  /**
   * Asks in the same way wherever else the edge listens for the host: the places, as `address:port`, where another server
   * block answers than the entry of the question's proof. A place that gives no answer at all is not among them.
   */
  foreignListeners(question: EdgeQuestion): Promise<readonly string[]>
  /** Asks for the certificate alone, so that a backend that is slow or gone does not matter. */
  handshake(host: string): Promise<Handshake>
}

export interface EdgeVisit extends EdgeQuestion {
  /** Where the edge listens for this host. */
  readonly listenAddress: Endpoint
  /** With a whole TLS handshake: only then the answer tells of the certificate. */
  readonly full: boolean
}

/** Asks for many hosts, again and again. Never rejects. */
export interface EdgeVisitor {
  visit(question: EdgeVisit): Promise<EdgeAnswer>
  /** What was kept for a host that is gone. */
  forget(host: string): void
  close(): void
}

export type Handshake =
  | {
      readonly kind: 'certificate'
      readonly fingerprint: string
      /** In hex. */
      readonly serial: string
      readonly names: readonly string[]
      readonly coversHost: boolean
      readonly notBefore: number
      readonly notAfter: number
    }
  /** The edge ended it, as it does for names that it has no certificate for. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown' }

export interface LoadState {
  /** Which of the paths that were asked about changed after nginx loaded its configuration; null when that cannot be told. */
  readonly changedSinceLoad: readonly string[] | null
  /** Why nginx refused its configuration since it loaded the one that runs, or when it was last started; in our words. */
  readonly refusal: string | null
}

/**
 * What a plan asks of one nginx. It reads files, and may run `nginx -t` on what is on disk; it has nothing that could change
 * a file, reload or signal. May be called at any time, by many at once: they share one look. Never rejects.
 */
export interface EdgePreflight {
  /** `tls`: whether the host would be served with a certificate. */
  check(host: string, tls: boolean): Promise<ProxyFact>
}

/**
 * What can be seen of one nginx with nothing at hand that could change it: no file is opened for writing, nothing is
 * started, signalled or reloaded. `nginx -t` is no way of looking: it opens logs and the pid file for writing.
 */
export interface EdgeView {
  readonly address: string
  readonly ports: { readonly http: number; readonly https: number }
  /** Where the file of a host stands, absolute. */
  hostPath(host: string): string
  /** What this machine's own table of hosts says, as nginx would have it; undefined when it says nothing. */
  localAddress(name: string): Promise<string | undefined>
  hashFiles(paths: readonly string[]): Promise<readonly FileHash[]>
  visit(question: EdgeQuestion & { readonly door: Endpoint }, limitMs: number): Promise<EdgeAnswer>
  handshake(door: Endpoint, host: string, limitMs: number): Promise<Handshake>
  loadState(paths: readonly string[]): Promise<LoadState>
}
