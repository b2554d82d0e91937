import { Problem } from '../../model/errors.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'

/** Somebody else may hold the lease by now. Whoever gets this stops at once and undoes nothing: another look brings the run to its end. */
export class LeaseLost extends Problem {
  constructor(name: string) {
    super(
      'unavailable',
      `The hold on ${name} was lost meanwhile; what was begun there is brought to its end without us.`,
      {
        nextAction: 'Follow the plan with GET /api/deploy/plans/{planId}.',
      },
    )
  }
}

/** Leases that are renewed together while their holder works, and that know when they may have become somebody else's. */
export class HeldLeases {
  readonly #leases: readonly Lease[]
  readonly #store: Pick<LeaseStore, 'renewLeases'>
  readonly #lifeMs: number
  readonly #now: () => number
  readonly #beat: NodeJS.Timeout
  readonly #heldUntil: Map<string, number>

  constructor(store: Pick<LeaseStore, 'renewLeases'>, leases: readonly Lease[], lifeMs: number, now: () => number) {
    this.#leases = leases
    this.#store = store
    this.#lifeMs = lifeMs
    this.#now = now
    this.#heldUntil = new Map(leases.map(({ name, expiresAt }) => [name, expiresAt]))
    this.#beat = setInterval(() => void this.#renew(), lifeMs / 4)
  }

  assertHeld(name: string): void {
    if (this.#now() >= (this.#heldUntil.get(name) ?? 0)) throw new LeaseLost(name)
  }

  /** Ends the renewal; the leases themselves are left to whoever releases them. */
  stop(): void {
    clearInterval(this.#beat)
  }

  /** A store that does not answer is asked again at the next beat. Counted from before the question: it may have waited. */
  async #renew(): Promise<void> {
    const asked = this.#now()
    const held = this.#leases.filter(({ name }) => this.#heldUntil.get(name) !== 0)
    const renewed = await this.#store.renewLeases(held, asked, this.#lifeMs).catch(() => undefined)
    if (renewed) for (const { name } of held) this.#heldUntil.set(name, renewed.has(name) ? asked + this.#lifeMs : 0)
  }
}

/** One lease, held in the same way. */
export class HeldLease {
  readonly lease: Lease
  readonly #all: HeldLeases

  constructor(store: Pick<LeaseStore, 'renewLeases'>, lease: Lease, lifeMs: number, now: () => number) {
    this.lease = lease
    this.#all = new HeldLeases(store, [lease], lifeMs, now)
  }

  assertHeld(): void {
    this.#all.assertHeld(this.lease.name)
  }

  stop(): void {
    this.#all.stop()
  }
}
