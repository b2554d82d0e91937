import type { Receipt } from '../../model/receipt.ts'
import { hostLease } from '../../model/run.ts'
import type { Lease } from '../../store/ports/leases.ts'
import type { Store, StoreSession } from '../../store/ports/store.ts'
import { HeldLeases } from '../engine/lease.ts'
import { type InUse, inUse, type Use } from './in-use.ts'

/** A host that no run can touch meanwhile, as its books say under our hold. */
export interface HeldHost {
  readonly inUse: InUse
  readonly lease: Lease
  readonly assertHeld: () => void
}

interface HoldingParts {
  readonly store: Store
  readonly instance: string
  readonly leaseMs: number
  readonly now: () => number
}

/**
 * Holds those of the hosts that nobody else holds while `work` goes on. A run for one of them is refused as busy for that
 * long, and a host with a run under way is left out: it is looked at again the next time.
 */
export async function holding<T>(
  { store, instance, leaseMs, now }: HoldingParts,
  hosts: readonly Pick<Use, 'host'>[],
  work: (held: readonly HeldHost[]) => Promise<T>,
): Promise<T> {
  // The same instance takes up at once what it held when it died.
  const leases = await store.transaction(async (session) => {
    const taken = []
    for (const { host } of hosts) {
      const lease = await session.takeLease(hostLease(host), `${instance} renewal`, now(), leaseMs)
      if (lease) taken.push({ host, lease })
    }
    return taken
  })
  const held = new HeldLeases(
    store,
    leases.map(({ lease }) => lease),
    leaseMs,
    now,
  )
  try {
    const looks = await Promise.all(
      leases.map(async ({ host, lease }) => ({ lease, exposure: await store.findExposure(host) })),
    )
    return await work(
      looks.flatMap(({ lease, exposure }) => {
        const found = exposure && inUse(exposure)
        return found ? [{ inUse: found, lease, assertHeld: () => held.assertHeld(lease.name) }] : []
      }),
    )
  } finally {
    held.stop()
    const release = async (session: StoreSession) => {
      for (const { lease } of leases) await session.releaseLease(lease)
    }
    // What cannot be released runs out.
    await store.transaction(release).catch(() => undefined)
  }
}

/** Writes receipts, all of them or none, with whatever `more` adds to the same transaction. */
export async function book(
  store: Store,
  receipts: readonly { readonly host: HeldHost; readonly receipt: Receipt }[],
  more: (session: StoreSession) => Promise<unknown> = async () => undefined,
): Promise<void> {
  for (const { host } of receipts) host.assertHeld()
  await store.transaction(async (session) => {
    for (const { host, receipt } of receipts) {
      const { host: name, planId } = host.inUse
      if (!(await session.setExposureReceipt(name, planId, receipt, host.lease.fence)))
        throw new Error(`the receipt of ${name} belongs to somebody else by now`)
    }
    await more(session)
  })
}
