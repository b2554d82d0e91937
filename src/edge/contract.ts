import type { Endpoint } from '../model/address.ts'
import type { NoAnswerReason } from '../model/badge.ts'
import { Fault } from '../model/errors.ts'
import type { ErrorClass } from '../model/evidence.ts'
import type { EntryOptions } from '../model/exposure.ts'
import type { ServedName } from '../model/finding.ts'
import type { StrayLines } from '../model/host-status.ts'
import type { FoundSite } from '../model/options/adoption.ts'
import type { FileHash } from '../model/receipt.ts'
import type { HostFence, RunName, StoreFloor, UnsettledRun } from '../model/run.ts'

export type { FileHash } from '../model/receipt.ts'

/** A name that no host can have. It selects our own server, which says that it is no host, also where another server is the default. */
export const EDGE_NAME = 'edge.drawbridge.invalid'

/** The server blocks of one exposure. */
export interface Site {
  readonly host: string
  readonly planId: string
  /** `http://address:port` from the registry, or `https://` with an authority in the options. It is never text that a caller sent. */
  readonly target: string
  /** Where requests go when `target` fails, in this order. */
  readonly furtherTargets?: readonly string[] | undefined
  readonly options?: EntryOptions | undefined
  /** Set exactly when the site is served over HTTPS. HTTP then redirects to HTTPS. */
  readonly certificate?: SiteCertificate | undefined
  /** ACME http-01 responses to serve for this host: token -> key authorization. */
  readonly challenges?: Readonly<Record<string, string>> | undefined
  /** The plan's secret, which identifies its server blocks. Plans of version 0.1 have none. */
  readonly proof?: string | undefined
}

/** A certificate with its key. Hosts that use the same certificate share one stored pair, which the fingerprint identifies. */
export interface SitePair {
  readonly fingerprint: string
  readonly certificatePem: string
  readonly keyPem: string
}

/** A pair that the edge has already and the service does not: a rebuild asks no edge for a key. */
interface KeptPair {
  readonly fingerprint: string
  readonly certificatePem?: undefined
  readonly keyPem?: undefined
}

export type SiteCertificate = SitePair | KeptPair

/**
 * A file of the edge by name, see config/layout.ts; most of them are gathered in larger ones on disk. A null `content` means that
 * the file must not exist. A `secret` file has mode 0600. `link`: what stands there is a symbolic link with this target, which
 * somebody put there; only an undo names one.
 */
export interface EdgeFile {
  readonly path: string
  readonly content: string | null
  readonly secret: boolean
  readonly link?: string
}

/** Each file on disk must match `expected` or already equal `files`. A file that was edited outside Drawbridge is never overwritten. */
export interface EdgeChange {
  readonly files: readonly EdgeFile[]
  readonly expected: readonly FileHash[]
  /** Also replaces a symbolic link that stands in the place of a file, if it is expected. */
  readonly replacesLinks?: boolean
  /**
   * Mends the files on disk that change: in place of a missing file the lines of all its hosts are written, as far as a former
   * generation has them. What others wrote into a file and belongs to no host stays in any case.
   */
  readonly mends?: boolean
}

/**
 * Moments of a change, for tests that end the process there. `staged`: the generation is written and tested. `before-swap`: before
 * the lease is asked for the last time and the generation is entered. `swapped`: it is entered and not loaded yet. `reloaded`:
 * nginx runs it, and nobody has been told.
 */
export const EDGE_POINTS = ['staged', 'before-swap', 'swapped', 'reloaded'] as const
export type EdgePoint = (typeof EDGE_POINTS)[number]

/** An entry as it stands on an edge. */
export interface StandingEntry {
  readonly host: string
  /** Undefined for an entry that was not written by Drawbridge, or that somebody edited so that it cannot be read. */
  readonly planId: string | undefined
  /** The id of its pair. */
  readonly certificate: string | undefined
  /** Whether it is written as lines or blocks, as the settings of the edge want it. */
  readonly isInLayout: boolean
}

/** A change that becomes part of the next generation of an edge, with the changes of others. */
export interface EdgeProposal {
  /**
   * Called when the generation begins: what shall stand, by what stands then. A rejection refuses this change alone. Nobody else
   * changes the edge from this call on, so it must not wait for another change.
   */
  propose(): Promise<EdgeChange>
  /** Throws if the run has lost a lease. Asked directly before the effect. */
  assertHeld(): void
  /** Renews a lease whose time has run out while the change waited, if nobody else has taken it. Asked before `assertHeld`. */
  ensureHeld?(): Promise<void>
  /**
   * The fence of the run on every host that the change belongs to. The edge keeps the highest fence of each host and refuses
   * a change with a lower one. A run may make any number of changes with the same fence.
   */
  readonly fences?: readonly HostFence[] | undefined
  /** The run that makes the change: what stood before is kept until the run is settled, see `settleRuns`. */
  readonly run?: RunName | undefined
  /** How long the leases of the run are held for certain, in milliseconds. Without it, they do not end. */
  heldForMs?(): number
  /** Called at each of these moments. */
  reached?(point: EdgePoint): void
  readonly signal?: AbortSignal | undefined
}

export interface EdgeQuestion {
  readonly host: string
  readonly path: string
  readonly tls: boolean
  /** The secret of the plan whose server block should answer. With it, the answer has `entry`. */
  readonly proof?: string | undefined
}

export type EdgeAnswer =
  | {
      readonly kind: 'answer'
      readonly httpStatus: number
      readonly latencyMs: number
      /** Set when the question has a proof. `other`: a server block of another origin answered. */
      readonly entry?: 'ours' | 'other'
      /** The certificate that was served. Only with TLS. */
      readonly certificate?: {
        readonly fingerprint: string
        readonly names: readonly string[]
        /** The common name of the authority, or its organization. Absent from agents of earlier versions. */
        readonly issuer?: string | undefined
        /** Whether the certificate is valid for the host in the question. */
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
 * `config_broken`: the configuration was invalid before the change. `change_invalid`: nginx rejects the change; no live file
 * was changed. `changed_meanwhile`: a file differs from what was expected; nothing was written. `write_failed`: a disk or
 * permission error. `not_reloaded`: nothing proves that nginx runs the new configuration; the former one is on disk again. `unavailable`:
 * nginx cannot be used. `logs_keys`: nginx logs at debug level, which writes private keys into a log; nothing was written.
 * `fenced`: a newer run or another store has changed a host of this change; see `isFenced`. `away`: the agent of the edge does not answer, and nothing
 * was sent to it. The sentence never contains configuration text or a raw log line.
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
    | 'fenced'
    | 'away'

  override readonly said: string | undefined

  /** `said`: the quoted words of an agent, see `Fault`. */
  constructor(kind: EdgeFault['kind'], sentence: string, said?: string) {
    super(sentence)
    this.kind = kind
    this.said = said
    this.code = kind === 'config_broken' || kind === 'logs_keys' ? 'proxy_config_broken' : undefined
  }
}

/**
 * Whether a newer run has taken over the host, as the edge tells. Whoever catches this stops at once and undoes nothing, as
 * after a lost lease: what stands now belongs to the newer run.
 */
export const isFenced = (fault: unknown): boolean =>
  fault instanceof Error && ((fault instanceof EdgeFault && fault.kind === 'fenced') || isFenced(fault.cause))

/** `keyPath`: where its key would be. */
export interface KeylessCertificate {
  readonly fingerprint: string
  readonly keyPath: string
}

/**
 * One nginx that serves exposures, on this machine or another. All calls may be repeated and may be made at any time. When a
 * `signal` aborts, the call ends its programs and connections and rejects with the reason of the signal. What it has changed by
 * then stays.
 */
export interface Edge {
  readonly server: string
  /** Writes the base file, and checks that nginx includes it. If nginx runs, it also checks that nginx serves it. */
  prepare(signal?: AbortSignal): Promise<void>
  /** Rejects with `config_broken` when nginx would not load the configuration on disk. */
  assertValid(signal?: AbortSignal): Promise<void>
  /** Rejects with `logs_keys` when nginx is configured to log at debug level: it would write private keys into its log. */
  assertNoDebugLog(): Promise<void>
  /** The files to write for a site, and the files of its former certificate to remove. A certificate that another host uses is kept. */
  filesFor(site: Site): Promise<readonly EdgeFile[]>
  /** Only the files that give a host its certificate: the pair, unless the edge keeps it, and the map entry that names it. */
  certificateFiles(host: string, certificate: SiteCertificate): readonly EdgeFile[]
  /** The map entry that names a pair for the host. The pair itself is not needed to write it. */
  certificateEntry(host: string, fingerprint: string): EdgeFile
  /** The id under which the edge has a certificate. */
  certificateId(fingerprint: string): string
  /** The certificates that files bring without their key, as a backup of an edge behind an agent has them. */
  keylessCertificates(files: readonly EdgeFile[]): readonly KeylessCertificate[]
  /** Whether a file is one of `certificateFiles`. The replacement of a certificate changes no other file. */
  isCertificateFile(path: string): boolean
  /** The removal of every pair that no map entry names. */
  unusedCertificates(): Promise<readonly EdgeFile[]>
  /**
   * The record by which a change takes the hand-written server blocks of a host out of their files; the same one where the plan has
   * done that. Without the record they are put back. Empty where the edge has no such block. Rejects with `change_invalid` if they
   * cannot be taken out, and with `changed_meanwhile` if their text is not the `expected` one. The edge keeps the files as they were.
   */
  takenOut(host: string, planId: string, expected?: string): Promise<readonly EdgeFile[]>
  /** The files to remove for a host. A certificate that another host uses is kept. */
  filesWithout(host: string): Promise<readonly EdgeFile[]>
  /**
   * The host's entry as it stands, as files that depend on nothing of ours and lie outside the edge's folder. Empty without an
   * entry. `certificate`: the pair that they get; undefined: the edge's own copy, if there is one.
   */
  releasedFiles(host: string, certificate?: SitePair): Promise<readonly EdgeFile[]>
  /** The absolute path of the configuration file among `releasedFiles`. */
  releasedPath(host: string): Promise<string>
  /** Changes with every generation, and when somebody puts another one in its place. */
  generation(): Promise<string>
  /** Where its own servers listen, each as `address:port` of a `listen` directive. Entries differ in these from edge to edge. */
  listens(): Promise<readonly string[]>
  /** All hosts that have an entry. */
  list(): Promise<readonly StandingEntry[]>
  /** Lines that somebody wrote between those of hosts. They are drift of the edge, and not of the hosts in the same file. */
  stray(): Promise<readonly StrayLines[]>
  /** The fences of the newest runs that changed these hosts, also of hosts that are gone. Those that no run changed are left out. */
  fencesOf(hosts: readonly string[]): Promise<readonly HostFence[]>
  hashFiles(paths: readonly string[]): Promise<readonly FileHash[]>
  /** For backups and undo. Without the keys of an edge behind an agent, which never come back. */
  read(paths: readonly string[]): Promise<readonly EdgeFile[]>
  /**
   * Makes the change, in one generation with all changes that wait: tested in a copy of the configuration, entered by one rename,
   * loaded. Resolves when the old workers are gone and the new workers answer. After a rejection the files are as before: with
   * `config_broken` the configuration would not load even without the change, with `change_invalid` it would not with it, with
   * `fenced` a newer run has changed a host. With `not_reloaded` nothing proves which generation nginx runs.
   */
  change(proposal: EdgeProposal): Promise<void>
  /**
   * Makes the edge refuse every change with a lower fence, also one that was sent before and has not arrived. Whoever takes a run
   * over calls it before anything that is read here counts. Rejects with `fenced` if there is a higher one.
   */
  raiseFence(fences: readonly HostFence[]): Promise<void>
  /**
   * Makes the edge refuse everything that an earlier epoch of the store sends, on whatever host. Called when a service begins to work
   * with the edge. Rejects with `fenced` if the edge knows a later epoch: then the service runs on a store that was replaced.
   */
  raiseFloor(floor: StoreFloor): Promise<void>
  /** The runs of all stores that have changed the edge and are not settled, the oldest first. */
  unsettledRuns(): Promise<readonly UnsettledRun[]>
  /** These runs have ended for good: what stood before them need not be kept for an undo any more. */
  settleRuns(runs: readonly string[]): Promise<void>
  /** Tests files that will probably be proposed next, so that the change need not. Resolves when the test has begun. Never rejects. */
  tryOut(files: readonly EdgeFile[], signal?: AbortSignal): Promise<void>
  /** Ends what `tryOut` began and nobody has proposed. */
  forgetTried(): Promise<void>
  /** Sends one request to the edge's own address, as a visitor of the host would. */
  ask(question: EdgeQuestion, signal?: AbortSignal): Promise<EdgeAnswer>
  /**
   * Sends the same request to every other address and port on which the edge listens for the host. Resolves with those, as
   * `address:port`, where a server block answers that is not the plan's own. An address that does not answer is left out.
   */
  foreignListeners(question: EdgeQuestion, signal?: AbortSignal): Promise<readonly string[]>
  /** Reads the certificate by a TLS handshake only, so the state of the backend does not matter. */
  handshake(host: string, signal?: AbortSignal): Promise<Handshake>
}

export interface EdgeVisit extends EdgeQuestion {
  /** The address and port on which the edge listens for this host. */
  readonly listenAddress: Endpoint
  /** Do a full TLS handshake. Only then does the answer have the certificate. */
  readonly full: boolean
}

/** Sends repeated requests for many hosts. Never rejects. */
export interface EdgeVisitor {
  visit(question: EdgeVisit): Promise<EdgeAnswer>
  /** Drops the TLS session of a host that is no longer served. */
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
  /** The edge ended the handshake, as it does for a name without a certificate. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown' }

export interface LoadState {
  /** The requested paths that changed after nginx loaded its configuration; null when that is not known. */
  readonly changedSinceLoad: readonly string[] | null
  /** Why nginx rejected its configuration at its last start, or since it loaded the running one. Without configuration text. */
  readonly refusal: string | null
}

/**
 * Checks one nginx for a plan. It reads files and may run `nginx -t` on the configuration on disk. It cannot write files,
 * reload or signal. May be called at any time; concurrent calls share one read. Never rejects.
 */
export interface EdgePreflight {
  /** Whether an entry for the host would conflict with what nginx serves. `tls`: whether the host would get a certificate. */
  check(host: string, tls: boolean): Promise<ServedName>
}

/** Where a visitor comes in. */
export interface EdgePlace extends Endpoint {
  readonly tls: boolean
}

/** The server block that answers a visitor, and how its names match. */
interface AnsweringBlock {
  /** `unknown`: the block has a pattern that Drawbridge cannot evaluate. Perhaps another block answers. */
  readonly how: 'exact' | 'leading_wildcard' | 'trailing_wildcard' | 'regex' | 'default' | 'unknown'
  readonly configPath: string
  readonly line: number
}

/** The hand-written site of a host. `off`: there is one, and the agent of the edge does not let it be adopted. */
export type SiteAnswer = { readonly kind: 'none' | 'off' } | ({ readonly kind: 'site' } & FoundSite)

/**
 * Read-only access to one nginx. It opens no file for writing, starts no program, and neither signals nor reloads nginx.
 * It does not run `nginx -t`, because that opens logs and the pid file for writing.
 */
export interface EdgeView {
  readonly address: string
  /** What it tells is told by an agent, which may lie: the service connects to no address that only this view names. */
  readonly isBehindAgent?: boolean
  readonly ports: { readonly http: number; readonly https: number }
  /** The absolute path of the file with a host's entry, and the line; null if it has none. */
  whereIs(host: string): Promise<{ readonly path: string; readonly line: number | null }>
  /** The block that nginx would choose. Undefined when no block listens at that place with the same `tls`. */
  answers(host: string, place: EdgePlace): Promise<AnsweringBlock | undefined>
  /** The address of a name in /etc/hosts, which nginx uses, too; undefined when the name is not there. */
  localAddress(name: string): Promise<string | undefined>
  hashFiles(paths: readonly string[]): Promise<readonly FileHash[]>
  visit(question: EdgeQuestion & { readonly listenAddress: Endpoint }, limitMs: number): Promise<EdgeAnswer>
  handshake(listenAddress: Endpoint, host: string, limitMs: number): Promise<Handshake>
  loadState(paths: readonly string[]): Promise<LoadState>
  /** The class of the newest error about a host in nginx's log, `since` a time in milliseconds. A hint, and not a proof. */
  newestErrorClass(host: string, since: number): Promise<ErrorClass | null>
}
