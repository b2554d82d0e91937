import { setTimeout as sleep } from 'node:timers/promises'
import { HeldLease } from '../apply/held-lease.ts'
import type { EdgeReader } from '../edge/reading/contract.ts'
import type { Store } from '../store/contract.ts'
import { Follower } from './follower.ts'
import { Keeper } from './keeper.ts'
import { Roll } from './roll.ts'
import { Rounds, type RoundsParts } from './rounds.ts'
import type { Surroundings } from './watched.ts'

interface MonitorParts extends Omit<RoundsParts, 'keeper' | 'roll'> {
  readonly store: Store
  /** Undefined where the Primary's edge is not on this machine: then another instance asks, and this one reads along. */
  readonly edge: { readonly reader: EdgeReader; readonly surroundings: Surroundings } | undefined
  /** Tells of every step of every run of this instance. */
  readonly listenToRuns: (listener: (entry: { readonly runId: string }) => void) => () => void
  readonly instance: string
  /** How long the hold on the monitor outlives a sign of life. */
  readonly leaseMs: number
}

const LEASE = 'monitor'
const TICK_MS = 100
const LOOK_AGAIN_MS = 1_000

/** Asks every host through the Primary's edge, again and again. Of any number of instances one asks; the others read along. */
export class Monitor {
  readonly #parts: MonitorParts
  #rounds: Rounds | undefined
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

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#ended
    this.#parts.visitor.close()
  }

  async #run(): Promise<void> {
    const { store, board, log } = this.#parts
    let follower = new Follower(store, board)
    while (!this.#stopped) {
      try {
        if (await this.#lead()) follower = new Follower(store, board)
        await follower.look()
      } catch (error) {
        log.error({ err: error }, 'The monitor stumbled; it goes on')
      }
      if (!this.#stopped) await sleep(LOOK_AGAIN_MS)
    }
  }

  /** Asks the hosts for as long as the hold lasts. False when it is somebody else's. */
  async #lead(): Promise<boolean> {
    const { store, board, edge, instance, leaseMs, now } = this.#parts
    const lease = edge && (await store.takeLease(LEASE, instance, now(), leaseMs))
    if (!lease) return false
    const held = new HeldLease(store, lease, leaseMs, now)
    const keeper = new Keeper(store, board)
    const roll = new Roll({ ...this.#parts, ...edge, keeper })
    const rounds = new Rounds({ ...this.#parts, keeper, roll })
    const stopListening = this.#parts.listenToRuns(({ runId }) => roll.touchRun(runId))
    try {
      await keeper.begin(now())
      this.#rounds = rounds
      await this.#ask(held, roll, rounds, keeper)
      rounds.stop()
      await this.#write(keeper, true)
    } finally {
      this.#rounds = undefined
      rounds.stop()
      stopListening()
      held.stop()
      await store.releaseLease(lease).catch(() => undefined)
    }
    return true
  }

  async #ask(held: HeldLease, roll: Roll, rounds: Rounds, keeper: Keeper): Promise<void> {
    const { now, log } = this.#parts
    while (!this.#stopped) {
      held.assertHeld()
      await roll.refresh(now()).catch((error: unknown) => log.error({ err: error }, 'The hosts cannot be listed now'))
      rounds.begin()
      await this.#write(keeper)
      await sleep(TICK_MS)
    }
  }

  /** A store that does not answer keeps nobody from asking: what is to be written waits. */
  async #write(keeper: Keeper, all = false): Promise<void> {
    const { now, log } = this.#parts
    await keeper
      .flush(now(), all)
      .catch((error: unknown) => log.error({ err: error }, 'What was seen of the hosts cannot be written now'))
  }
}
