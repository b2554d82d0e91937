import { setTimeout as sleep } from 'node:timers/promises'
import type { EdgeReader } from '../edge/reading/contract.ts'
import type { Validity } from '../model/badge.ts'
import { HeldLease } from '../runs/engine/lease.ts'
import type { Store } from '../store/ports/store.ts'
import { Follower } from './follower.ts'
import { withCertificate } from './judge.ts'
import { ReadBarrier } from './read-order.ts'
import { Rounds, type RoundsParts } from './rounds.ts'
import type { FirstAnswer } from './settle-host.ts'
import { Keeper } from './status-writer.ts'
import { Roll } from './watch-list.ts'
import type { Surroundings } from './watched.ts'

interface MonitorParts extends Omit<RoundsParts, 'keeper' | 'roll'> {
  readonly store: Store
  /** Undefined where the Primary's edge is not on this machine: then another instance asks, and this one reads along. */
  readonly edge: { readonly reader: EdgeReader; readonly surroundings: Surroundings } | undefined
  /** Tells of every step of every run of this instance. */
  readonly listenToRuns: (listener: (entry: { readonly runId: string }) => void) => () => void
  readonly firstAnswer: FirstAnswer
  readonly instance: string
  /** How long the hold on the monitor outlives a sign of life. */
  readonly leaseMs: number
}

const LEASE = 'monitor'
const TICK_MS = 100
const LOOK_AGAIN_MS = 500

/** Asks every host through the Primary's edge, again and again. Of any number of instances one asks; the others read along. */
export class Monitor {
  readonly #parts: MonitorParts
  readonly #barrier = new ReadBarrier()
  #rounds: Rounds | undefined
  #keeper: Keeper | undefined
  /** Who brings a host to the board: as one that asks, or that reads along. Undefined before the start. */
  #books: Roll | Follower | undefined
  #stopped = false
  #ended: Promise<void> = Promise.resolve()

  constructor(parts: MonitorParts) {
    this.#parts = parts
  }

  /** Checks that are due and have not begun. */
  get waiting(): number {
    return this.#rounds?.waiting ?? 0
  }

  start(): void {
    this.#ended = this.#run()
  }

  /** Commits a change of a host's exposure. The board tells it before this resolves. */
  publish<T>(host: string, commit: () => Promise<T>): Promise<T> {
    const { log } = this.#parts
    return this.#barrier.during(host, async () => {
      const committed = await commit()
      await this.#books
        ?.settle(host)
        .catch((error: unknown) => log.error({ err: error, host }, 'Status of a host not updated yet; retrying'))
      return committed
    })
  }

  /** A certificate that was just proven to be served: the board tells it without waiting for the next look. */
  tellCertificate(host: string, validity: Validity): void {
    const { board, now } = this.#parts
    const status = board.find(host)
    if (status?.tls) (this.#keeper ?? board).put(withCertificate(status, validity, now()))
  }

  /** Resolves when the board tells what was committed before: of `host`, or of all. To be awaited before the board is read. */
  upToDate(host?: string): Promise<void> {
    return this.#barrier.passed(host)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#ended
    this.#parts.visitor.close()
  }

  async #run(): Promise<void> {
    const { log } = this.#parts
    let follower = this.#follow()
    while (!this.#stopped) {
      try {
        if (await this.#lead()) follower = this.#follow()
        await follower.look()
      } catch (error) {
        log.error({ err: error }, 'The monitor stumbled; it goes on')
        if (this.#books !== follower) follower = this.#follow()
      }
      if (!this.#stopped) await sleep(LOOK_AGAIN_MS)
    }
  }

  #follow(): Follower {
    const follower = new Follower({ ...this.#parts, surroundings: this.#parts.edge?.surroundings })
    this.#books = follower
    return follower
  }

  /** Asks the hosts for as long as the hold lasts. False when it is somebody else's. */
  async #lead(): Promise<boolean> {
    const { store, board, edge, instance, leaseMs, now } = this.#parts
    const lease = edge && (await store.takeLease(LEASE, instance, now(), leaseMs))
    if (!lease) return false
    const held = new HeldLease(store, lease, leaseMs, now)
    const keeper = new Keeper(store, board)
    this.#keeper = keeper
    const roll = new Roll({ ...this.#parts, ...edge, keeper })
    const rounds = new Rounds({ ...this.#parts, keeper, roll })
    const stopListening = this.#parts.listenToRuns(({ runId }) => roll.touchRun(runId))
    try {
      this.#books = roll
      await this.#barrier.during(undefined, async () => {
        await keeper.begin(now())
        await this.#refresh(roll)
      })
      this.#rounds = rounds
      await this.#ask(held, roll, rounds, keeper)
      rounds.stop()
      await this.#write(keeper, true)
    } finally {
      this.#rounds = undefined
      this.#keeper = undefined
      rounds.stop()
      stopListening()
      held.stop()
      await store.releaseLease(lease).catch(() => undefined)
    }
    return true
  }

  async #ask(held: HeldLease, roll: Roll, rounds: Rounds, keeper: Keeper): Promise<void> {
    while (!this.#stopped) {
      held.assertHeld()
      await this.#refresh(roll)
      rounds.begin()
      await this.#write(keeper)
      await sleep(TICK_MS)
    }
  }

  async #refresh(roll: Roll): Promise<void> {
    const { now, log } = this.#parts
    await roll.refresh(now()).catch((error: unknown) => log.error({ err: error }, 'The hosts cannot be listed now'))
  }

  /** A store that does not answer keeps nobody from asking: what is to be written waits. */
  async #write(keeper: Keeper, all = false): Promise<void> {
    const { now, log } = this.#parts
    await keeper
      .flush(now(), all)
      .catch((error: unknown) => log.error({ err: error }, 'What was seen of the hosts cannot be written now'))
  }
}
