import type { HostFence, RunName, StoreFloor } from '../../model/run.ts'
import type { Entry } from '../record/entry.ts'
import type { EdgeFault } from './fault.ts'

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

/** An ACME http-01 challenge. `answer` null: it is withdrawn. */
export interface ChallengeChange {
  readonly host: string
  readonly fence: HostFence
  readonly token: string
  readonly answer: string | null
}
