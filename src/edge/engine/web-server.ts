import type { RunName } from '../../model/run.ts'
import type { ChangeItem } from '../contract/change.ts'
import { EdgeFault } from '../contract/fault.ts'
import type { Challenge } from '../record/challenge.ts'
import type { Entry } from '../record/entry.ts'

/** A host of a generation. A web server adds what only it understands. */
export interface Standing {
  readonly host: string
  /** Undefined: there is none, or somebody has made it unreadable. */
  readonly entry: Entry | undefined
  readonly challenge: Challenge | undefined
  /** Somebody has edited what the web server reads of it. */
  readonly isEdited: boolean
  readonly revision: string
}

/** Where a person finds something. */
export interface Place {
  readonly file: string
  readonly line: number | null
}

/** What a change does to one host. */
export type Effect<S extends Standing> =
  | { readonly kind: 'put'; readonly entry: Entry; readonly challenge: Challenge | undefined }
  | { readonly kind: 'restore'; readonly standing: S }
  | { readonly kind: 'remove' }
  | { readonly kind: 'release'; readonly standing: S }
  /** Nothing on the disk. `isLoaded`: the web server must have loaded what stands. */
  | { readonly kind: 'none'; readonly isLoaded: boolean }

/** What a change does outside the generation. One of `takeBack` and `keep` is called, once. */
export interface OutsideChange {
  /** Takes hand-written sites out of their files. Called when the web server would load entries in their place. */
  takeOut(): void
  takeBack(): void
  keep(): void
}

/** A generation that was written and is not in force yet. */
export interface Staged {
  readonly number: number
  /** Whether the files that it was made from are still the same. */
  isUpToDate(): boolean
  /** Makes the web server load it from its next reload on. */
  enter(): Promise<void>
  discard(): Promise<void>
}

/** `refused`: the web server would not load it. */
export type Tried = { readonly staged: Staged } | { readonly refused: EdgeFault }

/** The next generation, before it is written. `O`: see `WebServer`. */
export interface NextGeneration<O> {
  /** Nothing differs from the present generation. */
  readonly isSame: boolean
  /** The web server has to be tested and reloaded. */
  readonly isServedOtherwise: boolean
  /** Writes it, and has it tested together with `outside`. A refused one is gone. */
  stageTested(outside: readonly O[], signal?: AbortSignal): Promise<Tried>
  stageUntested(): Promise<Staged>
}

/** What one batch of changes is decided and drafted with. */
export interface Batch<S extends Standing, O> {
  /** Whether something is only missing of what was rendered: nobody has written anything else in its place. */
  isOnlyMissing(standing: S): boolean
  /** Throws an EdgeFault if the entry cannot be served. */
  assertServable(entry: Entry): void
  /** What the effect writes outside the generation. Throws an EdgeFault if it is not possible. */
  outsideOf(item: ChangeItem, effect: Effect<S>, run: RunName | undefined): readonly O[]
  draft(effects: readonly { readonly host: string; readonly effect: Effect<S> }[]): Promise<NextGeneration<O>>
}

/**
 * The web server of an edge with its generations on the disk, as the engine uses them. The engine decides which changes go into a
 * generation and when it comes into force. The web server writes, tests, loads and proves it. `S`: a host as it stands. `O`: something
 * that a change writes outside the generation, such as a hand-written site that it takes out.
 */
export interface WebServer<S extends Standing, O> {
  /** The number of the present generation. Undefined before the first one. */
  readonly number: number | undefined
  find(host: string): S | undefined
  /** A host as it stood in a generation that is kept. */
  findIn(number: number, host: string): S | undefined
  isKept(number: number): boolean
  whereIs(host: string): Place
  /** Whether another user owns a file of the host. */
  isForeign(host: string): boolean
  /** Rejects if it cannot listen where it should. */
  begin(): Promise<Batch<S, O>>
  /** Rejects with `config_broken` if it would not load its configuration as it is. */
  assertValid(): Promise<void>
  /** Rejects with `logs_keys` if it would write private keys into its log. */
  assertNoDebugLog(): Promise<void>
  /** Whether this must be in a generation of its own: it may meet an edit of others. */
  needsOwnGeneration(outside: O): boolean
  /** Before a run writes this: its undo takes back only what it has written. */
  noteOutside(run: RunName, outside: O): Promise<void>
  prepareOutside(outside: readonly O[]): Promise<OutsideChange>
  /** The file of a released host. */
  releasedPlace(host: string): string
  /** Makes it load a generation that is kept, from its next reload on. */
  enterAgain(number: number): Promise<void>
  /** Loads what was entered, and resolves when that is proven. */
  reload(signal?: AbortSignal): Promise<void>
  /**
   * Enters a generation that is written as this version does it, and as the web server listens now. Undefined if there is nothing to
   * change. `isRunning`: it is loaded.
   */
  refresh(options: {
    readonly isRunning: boolean
    readonly signal: AbortSignal | undefined
  }): Promise<{ readonly number: number; readonly former: number | undefined } | undefined>
  /** Removes old generations, and keys that nothing needs. Best effort. */
  forgetOld(present: number, former: number | undefined): void
}

export const EDITED = new EdgeFault(
  'changed_meanwhile',
  'Files of the edge were edited again and again while they were changed.',
)
