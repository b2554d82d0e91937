import { escapeText } from '../../model/escape-text.ts'
import { epochAhead, HIGHEST_NUMBER, type HostFence, type StoreFloor } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import { slicesOf } from '../../primitives/slices.ts'
import { EdgeFault } from '../contract/fault.ts'
import { faultOf, withEdgeFaults } from '../faults.ts'
import { FENCES } from '../layout.ts'
import { isHost } from '../record/entry.ts'
import { epochOf, type FenceLine, hasWritableStore, textOfLines } from './fence-lines.ts'
import { FenceLog } from './fence-log.ts'
import { FenceTable, MOST_STORES } from './fence-table.ts'

/** The file is written anew when it has this many lines more than twice the number of hosts. */
const SPARE_LINES = 1_000
/** So many fences are written and read again in one turn of the event loop. */
const MANY = 1_000
/** A claim is appended again only when another one has created the file at the same time. */
const MAX_APPENDS = 2

/** Protects one change against newer runs of its hosts. */
export interface Claim {
  /** Throws `fenced` when a newer run has claimed one of the hosts. Cheap: called directly before every effect. */
  assertNewest(): void
  /** Claims the hosts for the run. Durable when it resolves. Rejects with `fenced` as above. */
  record(): Promise<void>
}

export interface FencesOptions {
  readonly now: () => number
  /** Lets other work run while thousands of fences are written. */
  readonly turn: Clock['turn']
  readonly spareLines?: number
  /** Called once with each fence of the far future that stands in the file, and the host or store that it is for. `ahead`: by how much, in words. */
  readonly onIgnored?: ((fence: { readonly host: string; readonly epoch: number }, ahead: string) => void) | undefined
}

const UNFENCED: Claim = { assertNewest: () => undefined, record: async () => undefined }

/**
 * The highest fence of every host that was ever changed on an edge, removed hosts included, and the highest epoch of every store. Claims
 * are appended to one file, which only the owner of the edge writes. A claim is appended before the file is read again: so of two
 * concurrent claims on a host the lower one is refused, or it is in the file before the higher one.
 */
export class Fences {
  readonly #log: FenceLog
  readonly #spareLines: number
  readonly #now: () => number
  readonly #turn: Clock['turn']
  readonly #onIgnored: FencesOptions['onIgnored']
  readonly #table = new FenceTable()
  /** Fences of the far future, which earlier versions took. They count for nothing until the clock comes near them. */
  #ahead: readonly FenceLine[] = []
  readonly #told = new Set<string>()
  /** Claims of thousands of hosts are made several times. */
  readonly #writable = new WeakSet<HostFence>()
  #isCompacting = false

  constructor(folder: string, { now, turn, spareLines = SPARE_LINES, onIgnored }: FencesOptions) {
    this.#turn = turn
    this.#onIgnored = onIgnored
    this.#log = new FenceLog(folder)
    this.#spareLines = spareLines
    this.#now = now
  }

  claim(fences: readonly HostFence[] = []): Claim {
    if (fences.length === 0) return UNFENCED
    const now = this.#now()
    for (const fence of fences) {
      this.#assertWritable(fence)
      assertNotAhead(fence.host, fence.epoch, now)
    }
    return {
      assertNewest: () => this.#assertNewest(fences),
      record: () => this.#writing(() => this.#record(fences)),
    }
  }

  /** Refuses everything that comes from this store in an earlier epoch, from now on. Durable when it resolves. Rejects with `fenced` if a later one is known. */
  async raiseFloor(floor: StoreFloor): Promise<void> {
    const { store, epoch } = floor
    if (!hasWritableStore(floor) || !isNumber(epoch)) throw new Error(`${escapeText(store)} ${epoch} is no floor.`)
    assertNotAhead('this edge', epoch, this.#now())
    await this.#writing(async () => {
      this.#readOn()
      const refusal = this.#table.floorRefusal(floor)
      if (refusal !== undefined) throw new EdgeFault('fenced', refusal)
      if (this.#table.hasFloor(floor)) return
      this.#assertRoom([store])
      await this.#log.append([{ kind: 'floor', floor }])
      await this.#log.makeDurable()
    })
  }

  /** Gives hosts to another store, by the word of a person. `hosts`: undefined for all of `from`. Resolves with their names. */
  async handOver(from: string, to: string, hosts?: readonly string[]): Promise<readonly string[]> {
    if (!hasWritableStore({ store: to })) throw new Error(`${escapeText(to)} is not the id of a store.`)
    return this.#writing(async () => {
      this.#readOn()
      const own = this.#table.hostsOf(from)
      const given = hosts === undefined ? own : own.filter((host) => hosts.includes(host))
      if (given.length === 0) return given
      await this.#log.append(given.map((host) => ({ kind: 'handed', host, store: to })))
      await this.#log.makeDurable()
      return given
    })
  }

  /** The highest epoch of all fences and stores, 0 if there is none. A store that begins a new epoch begins a higher one. */
  highestEpoch(): number {
    this.#readOn()
    return this.#table.highestEpoch
  }

  /** The highest epoch of each store that has changed this edge. */
  floors(): readonly StoreFloor[] {
    this.#readOn()
    return this.#table.floors
  }

  /** The highest fence of each of these hosts that has one. */
  of(hosts: readonly string[]): HostFence[] {
    try {
      this.#readOn()
    } catch (error) {
      throw faultOf(FENCES, error)
    }
    return hosts.flatMap((host) => this.#table.of(host) ?? [])
  }

  #assertWritable(fence: HostFence): void {
    if (this.#writable.has(fence)) return
    const { host, epoch, number } = fence
    if (!isHost(host) || !isNumber(epoch) || !isNumber(number, HIGHEST_NUMBER) || !hasWritableStore(fence))
      throw new Error(`${escapeText(host)} ${epoch} ${number} is not a fence of a host.`)
    this.#writable.add(fence)
  }

  #assertNewest(fences: readonly HostFence[]): void {
    try {
      this.#readOn()
    } catch (error) {
      throw faultOf(FENCES, error)
    }
    for (const fence of fences) {
      const refusal = this.#table.refusal(fence)
      if (refusal !== undefined) throw new EdgeFault('fenced', refusal)
    }
  }

  /** Whoever sends made-up stores must not fill the disk. */
  #assertRoom(stores: readonly (string | undefined)[]): void {
    const known = new Set(this.#table.floors.map(({ store }) => store))
    for (const store of stores) if (store !== undefined) known.add(store)
    if (known.size > MOST_STORES)
      throw new EdgeFault(
        'change_invalid',
        `More than ${MOST_STORES} stores would have changed this edge. Nothing was changed.`,
      )
  }

  async #record(fences: readonly HostFence[]): Promise<void> {
    for (let appends = 0; ; appends += 1) {
      const missing = await this.#missingOf(fences)
      if (missing.length === 0) break
      if (appends === MAX_APPENDS) throw new EdgeFault('write_failed', `${FENCES} does not keep what is written to it.`)
      this.#assertRoom(missing.map(({ store }) => store))
      for (const some of slicesOf(missing, MANY)) {
        await this.#log.append(some.map((fence) => ({ kind: 'fence', fence })))
        if (missing.length <= MANY) continue
        this.#readOn()
        await this.#turn()
      }
    }
    await this.#log.makeDurable()
  }

  /** Those that are not in the file yet. Rejects with `fenced` if one of them is not the newest, before any is written. */
  async #missingOf(fences: readonly HostFence[]): Promise<HostFence[]> {
    const missing: HostFence[] = []
    for (const some of slicesOf(fences, MANY)) {
      this.#assertNewest(some)
      missing.push(...some.filter((fence) => this.#table.isMissing(fence)))
      if (fences.length > MANY) await this.#turn()
    }
    return missing
  }

  async #writing<T>(work: () => Promise<T>): Promise<T> {
    return withEdgeFaults(FENCES, async () => {
      const done = await work()
      if (this.#isLong()) await this.#compact()
      return done
    })
  }

  #isLong(): boolean {
    return this.#log.lines > 2 * (this.#table.size + this.#ahead.length) + this.#spareLines
  }

  #readOn(): void {
    this.#ahead = this.#take(this.#ahead)
    const read = this.#log.readOn()
    if (!read) return
    if (read.isAnew) {
      this.#table.clear()
      this.#ahead = []
    }
    const ahead = this.#take(read.lines)
    for (const line of ahead) this.#tellIgnored(line)
    this.#ahead = [...this.#ahead, ...ahead]
  }

  /** Takes the lines into account that are not of the far future. Returns the others. */
  #take(lines: readonly FenceLine[]): FenceLine[] {
    return lines.filter((line) => {
      if (epochAhead(epochOf(line), this.#now()) !== undefined) return true
      this.#table.take(line)
      return false
    })
  }

  /** The file is read from its beginning when it was written anew. */
  #tellIgnored(line: FenceLine): void {
    const text = textOfLines([line])
    if (this.#told.has(text)) return
    this.#told.add(text)
    const host = line.kind === 'fence' ? line.fence.host : line.kind === 'floor' ? line.floor.store : line.host
    const epoch = epochOf(line)
    this.#onIgnored?.({ host, epoch }, epochAhead(epoch, this.#now()) ?? '')
  }

  /** What a file that is written anew must have. A clock that is wrong for a while must not lose the fences that are ahead of it. */
  #kept(): FenceLine[] {
    return [...this.#table.lines(), ...this.#ahead]
  }

  /** With one line per host. The claim that calls it has succeeded in any case, and the next claim tries again. */
  async #compact(): Promise<void> {
    if (this.#isCompacting) return
    this.#isCompacting = true
    try {
      this.#readOn()
      if (this.#isLong()) await this.#log.writeAnew(this.#kept())
    } catch {
      // The next claim tries again.
    } finally {
      this.#isCompacting = false
    }
  }
}

const isNumber = (value: number, highest = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isSafeInteger(value) && value >= 0 && value <= highest

/** A fence of the far future would refuse every run after it. */
function assertNotAhead(host: string, epoch: number, now: number): void {
  const ahead = epochAhead(epoch, now)
  if (ahead === undefined) return
  throw new EdgeFault(
    'change_invalid',
    `The epoch of the store that changes ${host} is ${ahead} ahead of the clock of this edge (${new Date(now).toISOString()}). ` +
      'Nothing was changed. Compare the clocks of the service and the edge.',
  )
}
