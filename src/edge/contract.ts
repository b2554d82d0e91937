import type { Endpoint } from '../model/address.ts'
import type { NoAnswerReason } from '../model/badge.ts'
import { Fault } from '../model/errors.ts'
import type { ErrorClass } from '../model/evidence.ts'
import type { ServedName } from '../model/finding.ts'
import type { StrayLines } from '../model/host-status.ts'
import type { FoundSite } from '../model/options/adoption.ts'
import type { HostFence, RunName, StoreFloor, UnsettledRun } from '../model/run.ts'
import type { Entry } from './record/entry.ts'

export { certificateId, type Entry } from './record/entry.ts'

/**
 * A name that no host can have. It selects our own server, which answers that it is no host, even where another server is the
 * default.
 */
export const EDGE_NAME = 'edge.drawbridge.invalid'

/** A certificate with its key, as PEM. */
export interface Pair {
  readonly certificatePem: string
  readonly keyPem: string
}

/**
 * Moments of a change, for tests that end the process there. `staged`: the generation is written and tested. `before-swap`: before
 * the lease is asked for the last time and the generation is entered. `swapped`: it is entered and not loaded yet. `reloaded`:
 * nginx runs it, and nobody has been told.
 */
export const EDGE_POINTS = ['staged', 'before-swap', 'swapped', 'reloaded'] as const
export type EdgePoint = (typeof EDGE_POINTS)[number]

/** The required state of a host before a change of it: a revision from `list`, absent, or any. */
export type Expected = { readonly revision: string } | 'absent' | 'any'

/**
 * The wanted state of a host. `same`: only its fence is raised. `before`: its state before the run, including found text. `asIn`:
 * its state in a generation. `released`: nginx continues to serve it by a file that is no longer ours.
 */
type Wanted = Entry | 'absent' | 'same' | 'before' | 'released' | { readonly asIn: number }

export interface ChangeItem {
  readonly host: string
  /** The edge keeps the highest fence of each host and refuses a change with a lower one. A run may make any number of changes with one. */
  readonly fence: HostFence
  readonly expected: Expected
  readonly wanted: Wanted
  /** Replaces text that Drawbridge did not write. Without it, such a host stays unchanged. */
  readonly mend?: boolean | undefined
  /**
   * The plan for which the hand-written site of the host is taken out of its files, and the digest of the text that the plan has seen.
   * With `before` the site is put back.
   */
  readonly takesOver?: { readonly plan: string; readonly text?: string | undefined } | undefined
}

/** A change of one or many hosts, which becomes part of the next generation of an edge, with the changes of others. */
export interface Change {
  /** The run that makes the change. The state before is kept until the run is settled. */
  readonly run?: RunName | undefined
  readonly items: readonly ChangeItem[]
  /** These runs of the store of `floor` have ended for good: the state before them is no longer needed for an undo. */
  readonly settles?: readonly string[] | undefined
  /** From now on the edge refuses changes of an earlier epoch of this store, for every host. */
  readonly floor?: StoreFloor | undefined
}

/** How a change is made. */
export interface ChangeOptions {
  /** Throws if the run has lost a lease. Asked directly before the effect. */
  assertHeld?(): void
  /** Renews a lease whose time has run out while the change waited, if nobody else has taken it. Asked before `assertHeld`. */
  ensureHeld?(): Promise<void>
  /** How long the leases of the run are held for certain, in milliseconds. Without it, they do not end. */
  heldForMs?(): number
  /** Called at each of these moments. */
  onCrashPoint?(point: EdgePoint): void
  readonly signal?: AbortSignal | undefined
}

/**
 * The result for one host of a change. `generation`: the one that serves it. `released`: the absolute path of its file, for
 * display.
 */
export type HostVerdict =
  | {
      readonly host: string
      readonly state: 'serving'
      readonly generation: number
      readonly revision: string
      readonly released?: string | undefined
    }
  | { readonly host: string; readonly state: 'refused'; readonly fault: EdgeFault }

export const MOST_TOUCHED = 20

/** A difference between the record of a host and its texts. */
export interface Drift {
  /**
   * A part of the record, or an option such as `timeouts.read`. `owner`: another user owns the file, and could write anything into it.
   * `block`: lines of the server block that belong to no option.
   */
  readonly field: string
  /** The recorded value, and the found value. Undefined if it is not a single word, or secret. */
  readonly expected?: string | undefined
  readonly found?: string | undefined
  /** Of `block`: how many lines were added, and how many are missing. */
  readonly added?: number | undefined
  readonly absent?: number | undefined
  /** When the file was last written. */
  readonly since?: number | undefined
  /** Other hosts that the same change touches: at most MOST_TOUCHED names, and how many more there are. */
  readonly alsoTouches?: readonly string[] | undefined
  readonly alsoTouchesMore?: number | undefined
  /** The place for a person, for display. */
  readonly file: string
  readonly line: number | null
}

/** The present state of a host on an edge. */
export interface ListedHost {
  readonly host: string
  /** Null: the edge has no record of it. */
  readonly entry: Entry | null
  /** Null: the host is not there at all. */
  readonly revision: string | null
  /** The fence of the newest run that changed it, even if the host is gone. */
  readonly fence: HostFence | null
  /** Empty: it matches its record. */
  readonly drift: readonly Drift[]
  /** The place for a person, for display. */
  readonly file: string
  readonly line: number | null
}

/** The applied plan of a host, and the id of its certificate. */
export interface AppliedEntry {
  readonly plan: string
  readonly certificate: string | null
}

/**
 * The state of an applied host. `missing`: all or a part of it is missing. `edited`: it differs. `unknown`: the state cannot be
 * determined.
 */
export type EntryState = 'unchanged' | 'edited' | 'missing' | 'unknown'

export function stateOf({ entry, revision, drift }: ListedHost, applied: AppliedEntry): EntryState {
  if (revision === null) return 'missing'
  const text = drift.filter(({ field }) => field !== 'owner')
  if (text.some(({ found }) => found !== 'missing')) return 'edited'
  if (text.length > 0) return 'missing'
  return entry?.plan === applied.plan && entry.certificate === applied.certificate ? 'unchanged' : 'edited'
}

/** The hosts of an edge. */
export interface HostList {
  /** Changes with every generation, and when an administrator puts another one in its place. */
  readonly generation: string
  /** Null before the first one. */
  readonly number: number | null
  readonly hosts: readonly ListedHost[]
  /** Foreign lines between those of hosts: drift of the edge, not of the hosts in the same file. None where hosts were named. */
  readonly stray: readonly StrayLines[]
}

/** An ACME http-01 challenge. `answer` null: it is withdrawn. */
export interface ChallengeChange {
  readonly host: string
  readonly fence: HostFence
  readonly token: string
  readonly answer: string | null
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
 * was changed. `changed_meanwhile`: a host is not what was expected; nothing was written. `changed_elsewhere`: somebody else has edited
 * what stands for the host; it was not overwritten. `write_failed`: a disk or
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
    | 'changed_elsewhere'
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

/** Another process owns the edge's folder. It may be ending: then this one can be the next owner within moments. */
export class OwnedElsewhere extends EdgeFault {
  constructor(sentence: string) {
    super('unavailable', sentence)
  }
}

/**
 * Whether a newer run has taken over the host, according to the edge. The caller must stop at once and undo nothing, as after a
 * lost lease: the present state belongs to the newer run.
 */
export const isFenced = (fault: unknown): boolean =>
  fault instanceof Error && ((fault instanceof EdgeFault && fault.kind === 'fenced') || isFenced(fault.cause))

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
  /** All hosts, or the named hosts, including absent ones. */
  list(hosts?: readonly string[]): Promise<HostList>
  /**
   * Makes the change, in one generation with all changes that wait: tested in a copy of the configuration, entered by one rename,
   * loaded. Resolves when the old workers are gone and the new workers answer, with a verdict for each host in order. Rejects with an
   * EdgeFault if nothing of it was done: with `config_broken` the configuration would not load even without the change, with
   * `change_invalid` it would not with it. With `not_reloaded` nothing proves which generation nginx runs.
   */
  change(change: Change, options?: ChangeOptions): Promise<readonly HostVerdict[]>
  /** Gives the edge a certificate with its key. No call ever gives a key back. Resolves with its id, which entries name. */
  certificate(pair: Pair): Promise<string>
  /** Whether the edge has the pair with this id. */
  hasCertificate(id: string): Promise<boolean>
  /** Answers an ACME challenge for a served host, or stops answering it. */
  challenge(challenge: ChallengeChange, options?: ChangeOptions): Promise<void>
  /** The runs of all stores that have changed the edge and are not settled, the oldest first. */
  unsettledRuns(): Promise<readonly UnsettledRun[]>
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
  /** The answers come from an agent, which may lie: the service connects to no address that only this view names. */
  readonly isBehindAgent?: boolean
  readonly ports: { readonly http: number; readonly https: number }
  /** The block that nginx would choose. Undefined when no block listens at that place with the same `tls`. */
  answers(host: string, place: EdgePlace): Promise<AnsweringBlock | undefined>
  /** The address of a name in /etc/hosts, which nginx uses, too; undefined when the name is not there. */
  localAddress(name: string): Promise<string | undefined>
  /** The named hosts, including absent ones. */
  list(hosts: readonly string[]): Promise<HostList>
  visit(question: EdgeQuestion & { readonly listenAddress: Endpoint }, limitMs: number): Promise<EdgeAnswer>
  handshake(listenAddress: Endpoint, host: string, limitMs: number): Promise<Handshake>
  loadState(paths: readonly string[]): Promise<LoadState>
  /** The class of the newest error about a host in nginx's log, `since` a time in milliseconds. A hint, and not a proof. */
  newestErrorClass(host: string, since: number): Promise<ErrorClass | null>
}
