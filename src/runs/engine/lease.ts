import { Problem } from '../../model/errors.ts'
import type { LeaseGuard } from '../../model/run.ts'
import type { Clock, Timer } from '../../primitives/clock.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'

/** Another instance may hold the lease by now. Whoever catches this stops at once and undoes nothing: recovery finishes the run. */
export class LeaseLost extends Problem {
  constructor(name: string) {
    super('unavailable', `The lease of ${name} was lost. Recovery will finish the run.`, {
      nextAction: 'Follow the plan with GET /api/deploy/plans/{planId}.',
    })
  }
}

/** One moment by both clocks. */
interface Moment {
  readonly at: number
  readonly monotonic: number
}

/** The end of a lease that is not held any more. */
const OVER: Moment = { at: 0, monotonic: 0 }

/** The shorter of both times. */
const leftBetween = (now: Moment, until: Moment): number => Math.min(until.at - now.at, until.monotonic - now.monotonic)

/** Leases that are renewed together while their holder works. Knows when another instance may have taken one. */
export class HeldLeases implements LeaseGuard {
  readonly #leases: readonly Lease[]
  readonly #store: Pick<LeaseStore, 'renewLeases'>
  readonly #lifeMs: number
  readonly #clock: Clock
  readonly #beat: Timer
  /** By both clocks: other instances compare with the time of the day, which somebody may set back here. */
  readonly #heldUntil: Map<string, Moment>

  constructor(store: Pick<LeaseStore, 'renewLeases'>, leases: readonly Lease[], lifeMs: number, clock: Clock) {
    this.#leases = leases
    this.#store = store
    this.#lifeMs = lifeMs
    this.#clock = clock
    const { at, monotonic } = this.#now()
    this.#heldUntil = new Map(
      leases.map(({ name, expiresAt }) => {
        const leftMs = Math.min(expiresAt - at, lifeMs)
        return [name, { at: at + leftMs, monotonic: monotonic + leftMs }]
      }),
    )
    this.#beat = clock.every(lifeMs / 4, () => void this.#renew())
  }

  /** Throws if one of the leases may be lost. */
  assertHeld(): void {
    const now = this.#now()
    for (const [name, until] of this.#heldUntil) if (leftBetween(now, until) <= 0) throw new LeaseLost(name)
  }

  /**
   * The same, but asks the store first where the time of a lease has run out: after a stall of this process nobody may have taken it.
   */
  async ensureHeld(): Promise<void> {
    if (this.leftMs === 0) await this.#renew()
    this.assertHeld()
  }

  /** The same, and always asks the store. Without its answer the lease counts as lost. */
  async confirmHeld(): Promise<void> {
    if (!(await this.#renew())) throw new LeaseLost(this.#leases[0]?.name ?? '')
    this.assertHeld()
  }

  get leftMs(): number {
    const now = this.#now()
    return Math.max(0, Math.min(...[...this.#heldUntil.values()].map((until) => leftBetween(now, until))))
  }

  #now(): Moment {
    return { at: this.#clock.now(), monotonic: this.#clock.monotonic() }
  }

  /** Stops renewing. Does not release the leases, but nothing may be done under them any more. */
  stop(): void {
    this.#beat.cancel()
    for (const { name } of this.#leases) this.#heldUntil.set(name, OVER)
  }

  /**
   * Resolves with whether the store has answered; retried at the next beat if it has not. The life is counted from before the call, which
   * may have waited.
   */
  async #renew(): Promise<boolean> {
    const asked = this.#now()
    const held = this.#leases.filter(({ name }) => this.#heldUntil.get(name) !== OVER)
    const renewed = await this.#store.renewLeases(held, asked.at, this.#lifeMs).catch(() => undefined)
    const until = { at: asked.at + this.#lifeMs, monotonic: asked.monotonic + this.#lifeMs }
    // A lease that was lost or stopped during the call stays so.
    const still = renewed ? held.filter(({ name }) => this.#heldUntil.get(name) !== OVER) : []
    for (const { name } of still) this.#heldUntil.set(name, renewed?.has(name) ? until : OVER)
    return renewed !== undefined
  }
}
