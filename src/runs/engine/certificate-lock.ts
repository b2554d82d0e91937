import type { Clock } from '../../primitives/clock.ts'
import { KeyedQueue } from '../../primitives/keyed-queue.ts'
import { poll } from '../../primitives/retry.ts'
import type { Lease, LeaseStore } from '../../store/ports/leases.ts'
import { HeldLeases } from './lease.ts'
import { StepFault } from './step.ts'

const PATIENCE = { firstMs: 20, withinMs: 120_000 }

/** One lock per set of certificate names, across all instances. Callers wait for it instead of being refused. */
export class CertificateLock {
  readonly #store: LeaseStore
  readonly #instance: string
  readonly #leaseMs: number
  readonly #clock: Clock
  readonly #waiting = new KeyedQueue()

  constructor(store: LeaseStore, instance: string, leaseMs: number, clock: Clock) {
    this.#store = store
    this.#instance = instance
    this.#leaseMs = leaseMs
    this.#clock = clock
  }

  /** Holds the lock for ordering a certificate with these names. */
  hold<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const place = `certificate:${names.join(',')}`
    return this.#waiting.run(place, async () => {
      const lease = await this.#take(place)
      const held = new HeldLeases(this.#store, [lease], this.#leaseMs, this.#clock)
      return work().finally(async () => {
        held.stop()
        // A lease that cannot be released runs out. The work itself did not fail.
        await this.#store.releaseLease(lease).catch(() => undefined)
      })
    })
  }

  async #take(place: string): Promise<Lease> {
    const lease = await poll(
      () => this.#store.takeLease(place, this.#instance, this.#clock.now(), this.#leaseMs),
      (taken) => taken !== undefined,
      { ...PATIENCE, clock: this.#clock },
    )
    if (lease) return lease
    throw new StepFault(`Timed out after ${PATIENCE.withinMs / 1000} s waiting for the lock of ${place}.`, {
      transient: true,
    })
  }
}
