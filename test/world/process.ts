import { type Clock, sleepOn } from '../../src/primitives/clock.ts'
import type { Timeline } from './timeline.ts'

/** Thrown into code of a process that has died. Nothing that follows has an effect: every way out of the process is closed. */
export class Dead extends Error {}

/**
 * At its next point but `after`, or at its first point with the words `at`: the process dies, or is stopped until it is woken; the store
 * does not take a call (`outage`), or takes it and its answer is lost (`lost`).
 */
export type Stop = { readonly how: 'crash' | 'pause' | 'outage' | 'lost' } & (
  | { readonly after: number }
  | { readonly at: string }
)

const OF_STORE = { outage: 'store ', lost: 'stored: ' }

/** In a transaction a process only dies: one that is stopped there would lock out everybody else. */
function isAt(stop: Stop, name: string, points: number): boolean {
  const { how } = stop
  if (name.startsWith('in transaction') && how !== 'crash') return false
  if ((how === 'outage' || how === 'lost') && !name.startsWith(OF_STORE[how])) return false
  return 'at' in stop ? name.includes(stop.at) : points > stop.after
}

/** The interval at which a FairClock measures its own delay: see src/primitives/fair-clock.ts. */
const BEAT_MS = 20

/**
 * One process of the service. Everything by which it reaches the world goes through a gate: a call of a stopped process waits, one
 * of a dead process never comes back.
 */
export class Process {
  readonly name: string
  readonly clock: Clock
  readonly died: Promise<void>
  readonly #timeline: Timeline
  readonly #startedAt: number
  readonly #dying = Promise.withResolvers<void>()
  #woken = Promise.withResolvers<void>()
  #state: 'awake' | 'paused' | 'dead' = 'awake'
  #stop: Stop | undefined
  #points = 0
  /** The points that it passed since it was told to stop, for those who ask. */
  passed: string[] | undefined
  /** Whether it was stopped at any time. */
  wasPaused = false
  /** How far its clock is ahead, in milliseconds. */
  skewMs = 0
  /** The point at which it was stopped or died. */
  stoppedAt: string | undefined

  constructor(name: string, timeline: Timeline) {
    this.name = name
    this.#timeline = timeline
    this.#startedAt = timeline.now()
    this.died = this.#dying.promise
    this.clock = this.#makeClock()
  }

  get isAwake(): boolean {
    return this.#state === 'awake'
  }

  get isDead(): boolean {
    return this.#state === 'dead'
  }

  stopAt(stop: Stop | undefined): void {
    this.#stop = stop
    this.#points = 0
  }

  /** Code of the process passes a point at which it can be stopped. Throws where it dies. True where the store shall be silent. */
  point(name: string): boolean {
    if (this.isDead) throw new Dead()
    this.passed?.push(name)
    const stop = this.#stop
    this.#points += 1
    if (!stop || !isAt(stop, name, this.#points)) return false
    this.#stop = undefined
    this.stoppedAt = name
    if (stop.how === 'pause') this.pause()
    if (stop.how === 'crash') {
      this.die()
      throw new Dead()
    }
    return stop.how === 'outage' || stop.how === 'lost'
  }

  pause(): void {
    if (!this.isAwake) return
    this.#state = 'paused'
    this.wasPaused = true
  }

  wake(): void {
    if (this.#state !== 'paused') return
    this.#state = 'awake'
    this.#woken.resolve()
    this.#woken = Promise.withResolvers()
    this.#timeline.wake(this)
  }

  die(): void {
    this.#state = 'dead'
    this.#dying.resolve()
  }

  /** Throws in a dead process: directly before an effect that nothing else gates. */
  assertAlive(): void {
    if (this.isDead) throw new Dead()
  }

  /** Resolves at once in a process that is awake, and never in a dead one. */
  async awake(): Promise<void> {
    while (this.#state === 'paused') await this.#woken.promise
    if (this.isDead) await new Promise(() => undefined)
  }

  /** The same object, each of whose methods goes through the gate. */
  gated<T extends object>(given: T, before: (name: string) => void = () => undefined): T {
    const gate =
      (name: string, method: (...args: unknown[]) => unknown) =>
      async (...args: unknown[]): Promise<unknown> => {
        await this.awake()
        before(name)
        await this.awake()
        try {
          return await method(...args)
        } finally {
          await this.awake()
        }
      }
    const entries = Object.entries(given).map(([name, value]) => [
      name,
      typeof value === 'function' ? gate(name, value) : value,
    ])
    return Object.fromEntries(entries)
  }

  #makeClock(): Clock {
    const after: Clock['after'] = (ms, call) => ({
      cancel: this.#timeline.after(Math.max(1, ms), call, this),
    })
    const every: Clock['every'] = (ms, call) => {
      let cancel = (): void => undefined
      const next = () => {
        cancel = this.#timeline.after(
          ms,
          () => {
            next()
            call()
          },
          this,
          ms === BEAT_MS,
        )
      }
      next()
      return { cancel: () => cancel() }
    }
    return {
      now: () => this.#timeline.now() + this.skewMs,
      monotonic: () => this.#timeline.now() - this.#startedAt,
      after,
      every,
      sleep: sleepOn({ after }),
      turn: () => new Promise((resolve) => void this.#timeline.after(0, resolve, this)),
      timeout: (ms) => {
        const controller = new AbortController()
        after(ms, () => controller.abort(new DOMException('The time is over.', 'TimeoutError')))
        return controller.signal
      },
    }
  }
}
