import { Problem } from '../model/errors.ts'
import type { Lease, Store } from '../store/contract.ts'

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

/** A lease that is renewed while its holder works, and that knows when it may have become somebody else's. */
export class HeldLease {
  readonly lease: Lease
  readonly #store: Store
  readonly #lifeMs: number
  readonly #now: () => number
  readonly #beat: NodeJS.Timeout
  #heldUntil: number

  constructor(store: Store, lease: Lease, lifeMs: number, now: () => number) {
    this.lease = lease
    this.#store = store
    this.#lifeMs = lifeMs
    this.#now = now
    this.#heldUntil = lease.expiresAt
    this.#beat = setInterval(() => void this.#renew(), lifeMs / 4)
  }

  assertHeld(): void {
    if (this.#now() >= this.#heldUntil) throw new LeaseLost(this.lease.name)
  }

  /** Ends the renewal; the lease itself is left to whoever releases it. */
  stop(): void {
    clearInterval(this.#beat)
  }

  /** A store that does not answer is asked again at the next beat. Counted from before the question: it may have waited. */
  async #renew(): Promise<void> {
    const asked = this.#now()
    const renewed = await this.#store.renewLease(this.lease, asked, this.#lifeMs).catch(() => undefined)
    if (renewed === false) this.#heldUntil = 0
    if (renewed && this.#heldUntil !== 0) this.#heldUntil = asked + this.#lifeMs
  }
}
