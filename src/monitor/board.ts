import type { HostStatus } from '../model/host-status.ts'

/** `hosts`: one came, went, or is managed now or no more. `managed`: it is, or was until now. */
export type BoardNews =
  | { readonly kind: 'badge'; readonly status: HostStatus }
  | { readonly kind: 'hosts'; readonly managed: boolean }
export type BoardListener = (news: BoardNews) => void

/** All hosts as this instance knows them: seen by itself, or read along from the one that asks. */
export class Board {
  readonly #hosts = new Map<string, HostStatus>()
  readonly #listeners = new Set<BoardListener>()
  #revision = 0
  #changed = 0
  #membership = 0

  /** Grows with every host that comes, goes or is exposed anew. */
  get membership(): number {
    return this.#membership
  }

  /** Grows with whatever changes here; of no meaning elsewhere. */
  get revision(): number {
    return this.#revision
  }

  /** The greatest `changed` of all: where a stream of badges stands. */
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

  put(status: HostStatus): void {
    const before = this.#hosts.get(status.host)
    this.#hosts.set(status.host, status)
    this.#revision += 1
    this.#changed = Math.max(this.#changed, status.changed)
    if (before?.planId !== status.planId) this.#membership += 1
    const hasNewBadge = before !== undefined && before.badge !== status.badge
    if (hasNewBadge) this.#tell({ kind: 'badge', status })
    const isOther = before?.planId !== status.planId || before.expiresAt !== status.expiresAt
    if (before?.managed !== status.managed || (isOther && !hasNewBadge))
      this.#tell({ kind: 'hosts', managed: status.managed || before?.managed === true })
  }

  remove(host: string): void {
    const before = this.#hosts.get(host)
    if (!before) return
    this.#hosts.delete(host)
    this.#revision += 1
    this.#membership += 1
    this.#tell({ kind: 'hosts', managed: before.managed })
  }

  listen(listener: BoardListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(news: BoardNews): void {
    for (const listener of this.#listeners) listener(news)
  }
}
