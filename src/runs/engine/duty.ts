import type { Clock } from '../../primitives/clock.ts'
import type { LeaseStore } from '../../store/ports/leases.ts'
import { HeldLeases } from './lease.ts'

/** Does a regular task and resolves with what it did. Undefined: another instance is doing it. */
export type Duty = <T>(name: string, work: () => Promise<T>) => Promise<T | undefined>

/** For a store with one instance. */
export const aloneOnDuty: Duty = (_name, work) => work()

/** One instance at a time: a second one would only look for the same work. */
export const sharedDuty =
  (store: LeaseStore, instance: string, leaseMs: number, clock: Clock): Duty =>
  async (name, work) => {
    const lease = await store.takeLease(`duty ${name}`, instance, clock.now(), leaseMs)
    if (!lease) return undefined
    const held = new HeldLeases(store, [lease], leaseMs, clock)
    try {
      return await work()
    } finally {
      held.stop()
      // A lease that cannot be released runs out.
      await store.releaseLease(lease).catch(() => undefined)
    }
  }
