import { type Afters, coversHost, type Receipt, receiptOf, renewedReceipt } from '../../model/receipt.ts'
import { hostOfLease, type Run, type RunTask } from '../../model/run.ts'
import type { Lease } from '../../store/ports/leases.ts'
import type { StoreSession } from '../../store/ports/store.ts'
import type { Ended, Ending } from './ending.ts'

/** A repair of the owner mark alone leaves everything else of the receipt as it was. */
const repairedReceipt = ({ mark }: RunTask, afters: Afters, former: Receipt | undefined): Receipt =>
  mark === undefined || !former
    ? receiptOf(afters, former)
    : { ...former, records: afters.dns?.records ?? former.records }

/** What the end of a run changes in its exposures. */
export async function bookExposures(
  ended: Ended,
  ending: Ending,
  leases: readonly Lease[],
  session: StoreSession,
): Promise<void> {
  const { plan, run, task, afters, at } = ended
  const { planId, host, action, fence } = run
  const { expiresIn } = plan.request
  const expiresAt = expiresIn === undefined ? undefined : at + expiresIn * 1000
  const exposure = await session.findExposure(host)
  // The exposure of an update belongs to the former plan until the update has succeeded.
  const holder = exposure?.planId ?? planId
  if (ending.run !== 'succeeded') {
    if (ending.exposure === null) await session.deleteExposure(host, holder, fence)
    else await session.moveExposure(host, holder, fence, ending.exposure, at)
    return
  }
  switch (action) {
    case 'apply':
      await session.moveExposure(host, planId, fence, 'applied', at)
      await session.setExposureReceipt(host, planId, receiptOf(afters), fence)
      if (expiresAt !== undefined) await session.setExposureExpiry(host, planId, expiresAt)
      return
    case 'update': {
      const receipt = receiptOf(afters, exposure?.receipt)
      await session.replaceExposure(holder, { host, planId, state: 'applied', fence, since: at, receipt, expiresAt })
      await session.movePlan(holder, ['applied'], 'replaced')
      return
    }
    case 'repair':
      await session.confirmExposures([host], 'edges')
      await session.setExposureReceipt(host, planId, repairedReceipt(task, afters, exposure?.receipt), fence)
      return
    case 'renew':
      await bookMembers(ended, leases, session)
      return
    // A converge changes an edge and not the store.
    case 'converge':
      return
    case 'remove':
    case 'accept':
      await session.deleteExposure(host, holder, fence)
      // Unmute, so that a new exposure alerts.
      if (action === 'remove') await session.deleteMute(host)
      if (holder !== planId) await session.movePlan(holder, ['applied'], 'released')
  }
}

/** A blocked update that a repair or a removal of the former plan has ended is rolled back. */
export async function bookResolved({ planId }: Run, { resolves }: RunTask, session: StoreSession): Promise<void> {
  const resolved = resolves === undefined ? undefined : await session.findRun(resolves)
  if (resolved && resolved.planId !== planId) await session.movePlan(resolved.planId, ['blocked'], 'rolled_back')
}

/** How many receipts are made before they are written, and others get the event loop. */
const BOOKED_AT_ONCE = 200

/** Writes the receipts of all hosts that a renewal has changed. */
async function bookMembers({ afters, members }: Ended, leases: readonly Lease[], session: StoreSession): Promise<void> {
  const fences = new Map(leases.map(({ name, fence }) => [hostOfLease(name), fence]))
  for (let from = 0; from < members.length; from += BOOKED_AT_ONCE) {
    const changed = members.slice(from, from + BOOKED_AT_ONCE).flatMap(({ host, planId, receipt: former }) => {
      const fence = fences.get(host)
      const isCovered = coversHost(afters.certificate?.names ?? [], host)
      return former && isCovered && fence !== undefined
        ? [{ host, planId, fence, receipt: renewedReceipt(former, afters) }]
        : []
    })
    await session.setExposureReceipts(changed)
  }
}
