/**
 * A run is one change of the world: of an exposure (`apply`, `update`, `remove`, `repair`, `accept`), of a certificate and all
 * hosts that are served with it (`renew`), or of an edge that is not in step with the store (`converge`). Recovery after a crash
 * reads its journal.
 */
export const RUN_ACTIONS = ['apply', 'update', 'remove', 'repair', 'accept', 'renew', 'converge'] as const
export type RunAction = (typeof RUN_ACTIONS)[number]
export type RunState = 'running' | 'succeeded' | 'rolled_back' | 'blocked'

/**
 * What authorized an action. `network`: the internal network is enough, as for a token or in the legacy flow.
 * `schedule`: an exposure expired, a certificate is due, or an edge is not in step. `console`: a command on the server.
 */
export type Right = 'capability' | 'admin_token' | 'capability_and_admin_token' | 'network' | 'schedule' | 'console'

/** Who requested a run, from which network, and what authorized it. */
export interface Origin {
  readonly actor: string
  readonly network: 'internal' | 'public' | 'self'
  readonly right: Right
}

export interface Run {
  readonly runId: string
  readonly planId: string
  readonly host: string
  readonly action: RunAction
  readonly state: RunState
  /** The instance that executes the run, with its fencing number. `NOBODY` while the run waits for one. */
  readonly holder: string
  readonly fence: number
  /** Who requested the run, for the audit. */
  readonly actor: string
  readonly network: Origin['network']
  readonly right: Right
  readonly startedAt: number
  readonly finishedAt?: number | undefined
}

/**
 * `intent` is written before an effect, with the before-image; `done` or `failed` after it. After a crash between the two
 * the outcome is unknown. `verdict`: the Primary was verified, and from here the run only goes forward. The `undo_` marks
 * and `undone` do the same for an undo.
 */
export type JournalMark = 'intent' | 'done' | 'failed' | 'verdict' | 'undo_intent' | 'undone' | 'undo_failed'

export interface JournalEntry {
  readonly runId: string
  /** Counts from 1 within the run. */
  readonly seq: number
  readonly at: number
  readonly step: string
  readonly mark: JournalMark
  /** JSON. It never holds a secret: a private key is given by its file name. */
  readonly image?: unknown
  /** A sentence for people, if there is one. */
  readonly detail?: string | undefined
}

/**
 * The image of the entry with which a restore blocks a run. The backup has its journal only up to then: the run may have gone on, or
 * may have been resolved, in the former store.
 */
export const LEFT_OPEN = { leftOpen: true } as const

export const isLeftOpen = (entries: readonly JournalEntry[]): boolean =>
  entries.some(({ image }) => typeof image === 'object' && image !== null && 'leftOpen' in image)

/** The `actor` of work that the service starts, and of commands on the server. */
export const SERVICE_ACTOR = 'drawbridge'
export const CONSOLE_ACTOR = 'console'

export const BY_SCHEDULE: Origin = { actor: SERVICE_ACTOR, network: 'self', right: 'schedule' }
export const BY_CONSOLE: Origin = { actor: CONSOLE_ACTOR, network: 'self', right: 'console' }

/** Whether a run still holds the lease of what it changes. Asked directly before every effect. */
export interface LeaseGuard {
  /** Throws if another instance may hold the lease by now. */
  assertHeld(): void
  /** Rejects if another instance has taken the lease, or if the store does not say. Asked where an effect may still wait. */
  ensureHeld(): Promise<void>
  /** How long the lease is held for certain, in milliseconds. */
  readonly leftMs: number
  /** Aborts when the run must not wait any longer. Whatever waits under this guard then ends and rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The fence of a run on one host: the store, its epoch and the number of the host's lease. Within a store a higher epoch is higher
 * whatever the number is, so a copy that began later wins against everything that its source still sends. A host belongs to the store
 * whose run was the first to change it on the edge.
 */
export interface HostFence {
  readonly host: string
  readonly epoch: number
  readonly number: number
  /** The id of the store. Earlier versions told none: then only epoch and number count. */
  readonly store?: string | undefined
}

/**
 * No host has so many runs, one for every millisecond of 34 years. Numbers only grow, so the highest one that a computer counts to exactly
 * would end all changes of the host for ever.
 */
export const HIGHEST_NUMBER = 2 ** 40

/** Below this epoch an edge takes nothing from the store with this id, on whatever host. */
export interface StoreFloor {
  readonly store: string
  readonly epoch: number
}

/** A run, as an edge knows it: two stores may share the edge. */
export interface RunName {
  readonly run: string
  readonly store: string
}

/** A run that has changed an edge, which keeps what stood there before until it is told that the run has ended for good. */
export interface UnsettledRun extends RunName {
  readonly since: number
}

/** What the id of a run looks like. */
export const RUN_ID_GRAMMAR = '^run_[a-z0-9]{1,60}$'

/** What the id of a store looks like. */
export const STORE_ID_GRAMMAR = '^store_[a-z0-9]{1,58}$'

/** What a run shows with every effect. */
export interface RunGuard extends LeaseGuard {
  /** For edges, which refuse a run that is older than another one on the same host. */
  readonly fences: readonly HostFence[]
  /** For edges, which keep what stood before it until it is settled. */
  readonly run: RunName
  /** Aborted when the present step has reached its limit. */
  readonly signal: AbortSignal
}

const HOST_LEASE = 'host '

/** The name of the lease that a run takes on its host. */
export const hostLease = (host: string): string => `${HOST_LEASE}${host}`

/** The host that a lease is for. */
export const hostOfLease = (name: string): string => name.slice(HOST_LEASE.length)

/** The holder of a run that was begun for another instance, until one takes it up. */
export const NOBODY = ''

/** The holder name of a run's lease. After a restart the same instance can continue this run at once, but no other run. */
export const runHolder = (instance: string, runId: string): string => `${instance} ${runId}`

/** The id of the run in such a name. */
export const runOfHolder = (holder: string): string => holder.slice(holder.lastIndexOf(' ') + 1)

/** What a run was told beside its plan. It is journalled when the run begins, so that recovery knows it. */
export interface RunTask {
  /** The steps of a repair, in order: they depend on what is damaged. */
  readonly steps?: readonly StepName[]
  /** An accept that refuses files which were edited since they were applied: a release. */
  readonly intact?: boolean
  /** A repair that only gives the owner mark this text, in place of one that names a plan. */
  readonly mark?: string
  /** A repair may overwrite what was changed outside Drawbridge. */
  readonly overwrite?: boolean
  /** A renewal may order a certificate. Without it, it only puts an installed certificate in place. */
  readonly orders?: boolean
  /** The RFC 9773 identifier of the certificate that the order replaces. */
  readonly replaces?: string
  /** The edge that a converge brings into step. */
  readonly edge?: string
  /** The hosts that a converge takes off the edge. */
  readonly removes?: readonly string[]
  /** The plan of each entry that goes, by host: what another plan has put there since then stays. */
  readonly removedPlans?: Readonly<Record<string, string>>
  /** The blocked run that a person ends by this one. */
  readonly resolves?: string
  /** Another instance than the one that has the caller executes the run. Its end is journalled for that one. */
  readonly handedOver?: boolean
}

/** The names of the steps. A plan puts them in order; the engine has one implementation for each name and action. */
export const STEP_NAMES = ['check', 'backup', 'certificate', 'proxy', 'dns', 'proxy-tls', 'verify'] as const
export type StepName = (typeof STEP_NAMES)[number]

/** The steps of a removal, in order: the DNS name goes first. The same for every plan. */
export const STEPS_TO_REMOVE: readonly StepName[] = ['backup', 'dns', 'proxy']

/** The steps of an accept, in order: the service first, then the owner mark. */
export const STEPS_TO_ACCEPT: readonly StepName[] = ['backup', 'proxy', 'dns']

/** The steps of a renewal, in order. What comes after the verdict is never undone. */
export const STEPS_TO_RENEW: readonly StepName[] = ['backup', 'certificate', 'proxy', 'verify']

/** The steps of a converge. An edge that cannot be brought into step stays as it is. */
export const STEPS_TO_CONVERGE: readonly StepName[] = ['proxy']

/** The steps that a run of each action may have, in no particular order. */
export const STEPS_OF: Readonly<Record<RunAction, readonly StepName[]>> = {
  apply: ['check', 'backup', 'certificate', 'proxy', 'dns', 'proxy-tls', 'verify'],
  update: ['check', 'backup', 'certificate', 'proxy', 'verify'],
  remove: STEPS_TO_REMOVE,
  repair: ['backup', 'certificate', 'proxy', 'dns', 'proxy-tls', 'verify'],
  accept: STEPS_TO_ACCEPT,
  renew: STEPS_TO_RENEW,
  converge: STEPS_TO_CONVERGE,
}

/** The epoch of a store is the time at which the store began, in milliseconds since 1970. Clocks differ, but not by more than this. */
const MOST_AHEAD_MS = 86_400_000

/** Epochs only grow, so an epoch of the far future would end all changes for ever. By how much one is too far ahead, in words. */
export function epochAhead(epoch: number, now: number): string | undefined {
  const ahead = epoch - now
  return ahead > MOST_AHEAD_MS ? `${Math.round(ahead / MOST_AHEAD_MS)} days` : undefined
}
