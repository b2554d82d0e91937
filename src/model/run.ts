/** One execution of a plan, and the journal from which a crash is understood. */
export type RunAction = 'apply' | 'remove'
export type RunState = 'running' | 'succeeded' | 'rolled_back' | 'blocked'

/**
 * By what right somebody acts. `network`: being inside is enough, as for a token or in the legacy flow. `schedule`: the
 * end of an exposure's life. `console`: a command on the server.
 */
export type Right = 'capability' | 'admin_token' | 'capability_and_admin_token' | 'network' | 'schedule' | 'console'

/** Who asked for a run, from where, and by what right. */
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
  /** The instance that runs it, under this fencing number. */
  readonly holder: string
  readonly fence: number
  /** Who asked for it, for the audit. */
  readonly actor: string
  /** Absent for runs of the first version. */
  readonly network?: Origin['network'] | undefined
  readonly right?: Right | undefined
  readonly startedAt: number
  readonly finishedAt?: number | undefined
}

/**
 * Before an effect: `intent`, with the before-image. After it: `done` or `failed`. A crash between the two leaves
 * "unknown". `verdict`: verified on the Primary, from here only forward. The same again, backwards, for undoing.
 */
export type JournalMark = 'intent' | 'done' | 'failed' | 'verdict' | 'undo_intent' | 'undone' | 'undo_failed'

export interface JournalEntry {
  readonly runId: string
  /** 1, 2, 3… within the run. */
  readonly seq: number
  readonly at: number
  readonly step: string
  readonly mark: JournalMark
  /** JSON. Never a secret: keys are named by file, not held here. */
  readonly image?: unknown
  /** A sentence, where there is something to say. */
  readonly detail?: string | undefined
}

/** Stands in `actor` for the service itself, which ends what has lived its life, and for a person at the server's own console. */
export const ITSELF = 'drawbridge'
export const CONSOLE = 'console'

export const BY_SCHEDULE: Origin = { actor: ITSELF, network: 'self', right: 'schedule' }
export const BY_CONSOLE: Origin = { actor: CONSOLE, network: 'self', right: 'console' }

/** The lease that a run takes on its host. */
export const hostLease = (host: string): string => `host ${host}`

/** A run's own name as a holder: the same instance may take up its own run again at once, and no other run. */
export const runHolder = (instance: string, runId: string): string => `${instance} ${runId}`
