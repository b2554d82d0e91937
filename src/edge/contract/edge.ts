import type { Endpoint } from '../../model/address.ts'
import type { ErrorClass } from '../../model/evidence.ts'
import type { ServedName } from '../../model/finding.ts'
import type { FoundSite } from '../../model/options/adoption.ts'
import type { UnsettledRun } from '../../model/run.ts'
import type { ChallengeChange, Change, ChangeOptions, HostVerdict, Pair } from './change.ts'
import type { HostList } from './list.ts'
import type { EdgeAnswer, EdgeQuestion, Handshake } from './visit.ts'

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
