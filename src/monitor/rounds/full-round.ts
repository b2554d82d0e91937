import type { Badge } from '../../model/badge.ts'
import type { HostStatus, HostsChecked } from '../../model/host-status.ts'

/** `checked`: its status is the result. `busy`: a run changes the host. `unasked`: nothing can ask it, or it is gone. */
export type CheckEnd = 'checked' | 'busy' | 'unasked' | 'failed'

/** One full check of every host, by request. A check that began before the request does not count. */
export class FullRound {
  readonly #before: ReadonlyMap<string, Badge>
  readonly #toBegin: Set<string>
  readonly #toEnd: Set<string>
  readonly #ends: Readonly<Record<CheckEnd, string[]>> = { checked: [], busy: [], unasked: [], failed: [] }

  constructor(statuses: Iterable<HostStatus>) {
    this.#before = new Map([...statuses].map(({ host, badge }) => [host, badge]))
    this.#toBegin = new Set(this.#before.keys())
    this.#toEnd = new Set(this.#before.keys())
  }

  get isOver(): boolean {
    return this.#toEnd.size === 0
  }

  isWaiting(host: string): boolean {
    return this.#toBegin.has(host)
  }

  /** Call it when a check of the host begins. Returns whether the round waits for its end. */
  begin(host: string): boolean {
    return this.#toBegin.delete(host)
  }

  end(host: string, how: CheckEnd): void {
    this.#toBegin.delete(host)
    if (this.#toEnd.delete(host)) this.#ends[how].push(host)
  }

  /** Call it when the round is over. */
  result(find: (host: string) => HostStatus | undefined): HostsChecked {
    const { checked, busy, failed } = this.#ends
    const changed = [...this.#before].flatMap(([host, before]) => {
      const { badge } = find(host) ?? {}
      return badge === undefined || badge === before ? [] : [{ host, badge }]
    })
    return { checked: checked.length, changed, busy, failed }
  }
}
