import type { Clock } from '../../primitives/clock.ts'
import type { LeaseStore } from '../../store/ports/leases.ts'
import { HeldLeases } from './lease.ts'

/** Does a regular task unless another instance is doing it. */
export type Duty = (name: string, work: () => Promise<unknown>) => Promise<void>

/** For a store with one instance. */
export const aloneOnDuty: Duty = async (_name, work) => {
  await work()
}

/** One instance at a time: what it has done needs no second one, which would only look for the same work. */
export const sharedDuty =
  (store: LeaseStore, instance: string, leaseMs: number, clock: Clock): Duty =>
  async (name, work) => {
    const lease = await store.takeLease(`duty ${name}`, instance, clock.now(), leaseMs)
    if (!lease) return
    const held = new HeldLeases(store, [lease], leaseMs, clock)
    try {
      await work()
    } finally {
      held.stop()
      // A lease that cannot be released runs out.
      await store.releaseLease(lease).catch(() => undefined)
    }
  }
