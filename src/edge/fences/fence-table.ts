import type { HostFence, StoreFloor } from '../../model/run.ts'
import type { FenceLine } from './fence-lines.ts'

/** How many stores may share an edge. Each is remembered for ever. */
export const MOST_STORES = 100

/** What the lines of fences say, in their order. Decides which claims an edge refuses. */
export class FenceTable {
  readonly #newest = new Map<string, HostFence>()
  /** The highest epoch of each store. */
  readonly #floors = new Map<string, number>()
  /** Whose each epoch is: so a fence that tells no store has one, too, as soon as its store has shown itself. */
  readonly #stores = new Map<number, string>()

  /** Of two stores that claim a host the first has it. */
  take(line: FenceLine): void {
    if (line.kind === 'floor') this.#raise(line.floor)
    else if (line.kind === 'handed') this.#newest.set(line.host, handedTo(line))
    else this.#takeFence(line.fence)
  }

  #takeFence(fence: HostFence): void {
    if (fence.store !== undefined) this.#raise({ store: fence.store, epoch: fence.epoch })
    const known = this.#newest.get(fence.host)
    if (this.#isOfAnother(fence, known)) return
    if (isLower(known, fence)) this.#newest.set(fence.host, fence)
  }

  /** Why a change with this fence is refused, as a sentence. Undefined if it is not. */
  refusal(fence: HostFence): string | undefined {
    const known = this.#newest.get(fence.host)
    if (this.#isBelowFloor(fence)) return formerStore(fence.host)
    if (known && this.#isOfAnother(fence, known)) return otherStore(fence, this.#storeOf(known))
    return isLower(fence, known ?? fence)
      ? `A newer run has changed ${fence.host}. This run stops and undoes nothing.`
      : undefined
  }

  /** Why the store may not begin with this epoch. Undefined if it may. */
  floorRefusal({ store, epoch }: StoreFloor): string | undefined {
    return epoch < (this.#floors.get(store) ?? epoch) ? formerStore('anything') : undefined
  }

  /** Whether a line has to be written for the fence. */
  isMissing(fence: HostFence): boolean {
    const { store, epoch } = fence
    return isLower(this.#newest.get(fence.host), fence) || (store !== undefined && !this.hasFloor({ store, epoch }))
  }

  hasFloor({ store, epoch }: StoreFloor): boolean {
    return (this.#floors.get(store) ?? -1) >= epoch
  }

  /** How many lines it needs. */
  get size(): number {
    return this.#newest.size + this.#stores.size
  }

  get highestEpoch(): number {
    const all = [...this.#newest.values(), ...this.floors]
    return all.reduce((highest, { epoch }) => Math.max(highest, epoch), 0)
  }

  get floors(): StoreFloor[] {
    return [...this.#floors].map(([store, epoch]) => ({ store, epoch }))
  }

  /** The newest fence of the host, with its store as far as that is known. */
  of(host: string): HostFence | undefined {
    const known = this.#newest.get(host)
    const store = known && this.#storeOf(known)
    return known && store !== undefined ? { ...known, store } : known
  }

  /** The hosts of a store. */
  hostsOf(store: string): string[] {
    return [...this.#newest.values()].filter((fence) => this.#storeOf(fence) === store).map(({ host }) => host)
  }

  /** The fewest lines that say the same: the epochs of stores in their order, and one line for each host. */
  lines(): FenceLine[] {
    const former = [...this.#stores].map(([epoch, store]) => ({ epoch, store }))
    const floors = [...former, ...this.floors.filter(({ epoch, store }) => this.#stores.get(epoch) !== store)]
    return [
      ...floors.map((floor) => ({ kind: 'floor', floor }) as const),
      ...[...this.#newest.values()].map((fence) => ({ kind: 'fence', fence }) as const),
    ]
  }

  clear(): void {
    this.#newest.clear()
    this.#floors.clear()
    this.#stores.clear()
  }

  #raise({ store, epoch }: StoreFloor): void {
    // That of a host that was handed over.
    if (epoch === 0) return
    if (!this.#stores.has(epoch)) this.#stores.set(epoch, store)
    if ((this.#floors.get(store) ?? -1) < epoch) this.#floors.set(store, epoch)
  }

  #storeOf({ store, epoch }: HostFence): string | undefined {
    return store ?? this.#stores.get(epoch)
  }

  #isBelowFloor(fence: HostFence): boolean {
    const store = this.#storeOf(fence)
    return store !== undefined && fence.epoch < (this.#floors.get(store) ?? 0)
  }

  #isOfAnother(fence: HostFence, known: HostFence | undefined): boolean {
    const owner = known && this.#storeOf(known)
    return owner !== undefined && owner !== this.#storeOf(fence)
  }
}

/** Below every fence of the store. */
const handedTo = ({ host, store }: { readonly host: string; readonly store: string }): HostFence => ({
  ...{ host, store, epoch: 0, number: 0 },
})

const formerStore = (host: string): string =>
  `A later copy of the store of this service changes this edge now, so the service may not change ${host} here any more. Nothing was ` +
  'changed. Stop the service of the former store.'

const otherStore = ({ host, store = 'without an id' }: HostFence, owner: string | undefined): string =>
  `${host} belongs to another store on this edge (${owner}; this one is ${store}). Nothing was changed. If this store shall have it, ` +
  'run "drawbridge edge hand-over" on the machine of the edge.'

/** Undefined is lower than every fence. */
const isLower = (one: HostFence | undefined, other: HostFence): boolean =>
  one === undefined || one.epoch < other.epoch || (one.epoch === other.epoch && one.number < other.number)
