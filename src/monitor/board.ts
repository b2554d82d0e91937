import type { ServedPattern } from '../edge/served.ts'
import type { HostStatus, Mute } from '../model/host-status.ts'
import { ShownValues } from './shown-values.ts'

/**
 * `hosts`: a host was added or removed, or its exposure changed. `managed`: the host is managed, or was until now. `row`:
 * something else that a list of hosts shows has changed.
 */
export type BoardChange =
  | { readonly kind: 'badge'; readonly status: HostStatus }
  | { readonly kind: 'hosts'; readonly managed: boolean; readonly host: string }
  | { readonly kind: 'row'; readonly status: HostStatus }
export type BoardListener = (change: BoardChange) => void

/** All hosts as this instance knows them, either from its own checks or from the instance that checks. */
export class Board {
  readonly #hosts = new Map<string, HostStatus>()
  readonly #listeners = new Set<BoardListener>()
  readonly #shown = new ShownValues()
  #mutes: ReadonlyMap<string, Mute> = new Map()
  #patterns: readonly ServedPattern[] = []
  #revision = 0
  #changed = 0
  #membership = 0

  /** Increases when a host is added, removed or exposed again. */
  get membership(): number {
    return this.#membership
  }

  /** Increases with every change. The number has no meaning in other instances. */
  get revision(): number {
    return this.#revision
  }

  /** The highest `changed` of all hosts. A stream of badges resumes from it. */
  get changed(): number {
    return this.#changed
  }

  get size(): number {
    return this.#hosts.size
  }

  all(): IterableIterator<HostStatus> {
    return this.#hosts.values()
  }

  find(host: string): HostStatus | undefined {
    return this.#hosts.get(host)
  }

  /** The wildcards and patterns of the edge's server blocks. They are no hosts, and nobody checks them. */
  get patterns(): readonly ServedPattern[] {
    return this.#patterns
  }

  setPatterns(patterns: readonly ServedPattern[]): void {
    if (patterns === this.#patterns) return
    this.#patterns = patterns
    this.#revision += 1
  }

  isMuted(host: string): boolean {
    return this.#mutes.has(host)
  }

  /** Sets the mutes that are in force. Returns the hosts of the board for which that is a change. */
  setMutes(mutes: ReadonlyMap<string, Mute>): readonly string[] {
    const former = this.#mutes
    this.#mutes = mutes
    const named = new Set([...former.keys(), ...mutes.keys()])
    return [...named].filter((host) => {
      const status = this.#hosts.get(host)
      if (!status || isSameMute(status.mute, mutes.get(host))) return false
      const changed = withMute(status, mutes.get(host))
      this.#hosts.set(host, changed)
      this.#revision += 1
      this.#notify({ kind: 'row', status: changed })
      return true
    })
  }

  put(given: HostStatus): void {
    const status = withMute(given, this.#mutes.get(given.host))
    const before = this.#hosts.get(status.host)
    this.#hosts.set(status.host, status)
    this.#revision += 1
    this.#changed = Math.max(this.#changed, status.changed)
    if (before?.planId !== status.planId) this.#membership += 1
    const hasNewBadge = before !== undefined && before.badge !== status.badge
    if (hasNewBadge) this.#notify({ kind: 'badge', status })
    const hasNewExposure = before?.planId !== status.planId || before.expiresAt !== status.expiresAt
    if (before?.managed !== status.managed || (hasNewExposure && !hasNewBadge))
      this.#notify({ kind: 'hosts', managed: status.managed || before?.managed === true, host: status.host })
    if (this.#listeners.size > 0 && this.#shown.note(status, before)) this.#notify({ kind: 'row', status })
  }

  remove(host: string): void {
    const before = this.#hosts.get(host)
    if (!before) return
    this.#hosts.delete(host)
    this.#revision += 1
    this.#membership += 1
    this.#shown.forget(host)
    this.#notify({ kind: 'hosts', managed: before.managed, host })
  }

  listen(listener: BoardListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      // What changes unheard is in the list that the next listener loads.
      if (this.#listeners.size === 0) this.#shown.clear()
    }
  }

  #notify(change: BoardChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

const isSameMute = (one: Mute | undefined, other: Mute | undefined): boolean =>
  one?.since === other?.since && one?.until === other?.until && one?.by === other?.by && one?.note === other?.note

function withMute(given: HostStatus, mute: Mute | undefined): HostStatus {
  if (given.mute === mute) return given
  const { mute: _former, ...status } = given
  return mute ? { ...status, mute } : status
}
