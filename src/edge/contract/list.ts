import type { StrayLines } from '../../model/host-status.ts'
import type { HostFence } from '../../model/run.ts'
import type { Entry } from '../record/entry.ts'

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
