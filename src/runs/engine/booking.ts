import {
  type Afters,
  coversHost,
  type FileHash,
  type Receipt,
  receiptOf,
  renewedReceipt,
  rewrittenReceipt,
} from '../../model/receipt.ts'
import { hostOfLease, type Run, type RunTask } from '../../model/run.ts'
import type { Lease } from '../../store/ports/leases.ts'
import type { StoreSession } from '../../store/ports/store.ts'
import type { Ended, Ending } from './ending.ts'

/**
 * Out of all files that a renewal placed: the files of a host after it, which are its former ones and those of the new certificate.
 * Called once for all hosts.
 */
export type RenewedFiles = (
  placed: readonly FileHash[],
) => (host: string, former: readonly FileHash[]) => readonly FileHash[]

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
  renewedFiles: RenewedFiles,
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
    case 'converge':
      await bookMembers(ended, leases, renewedFiles, session)
      return
    case 'remove':
    case 'accept':
      await session.deleteExposure(host, holder, fence)
      // The next exposure of this name must not begin in silence.
      if (action === 'remove') await session.deleteMute(host)
      if (holder !== planId) await session.movePlan(holder, ['applied'], 'released')
  }
}

/** A blocked update that a repair or a removal of the former plan has ended is rolled back. */
export async function bookResolved({ planId }: Run, { resolves }: RunTask, session: StoreSession): Promise<void> {
  const resolved = resolves === undefined ? undefined : await session.findRun(resolves)
  if (resolved && resolved.planId !== planId) await session.movePlan(resolved.planId, ['blocked'], 'rolled_back')
}

/** `entry`: what a converge wrote on the Primary. Without it the Secondary has caught up. Undefined: the receipt stays. */
function convergedReceipt(
  receipt: Receipt,
  entry: readonly FileHash[] | undefined,
  former: string | undefined,
): Receipt | undefined {
  if (entry) return rewrittenReceipt(receipt, entry, former)
  const { formerTexts, ...kept } = receipt
  return formerTexts && kept
}

/** How many receipts are made before they are written, and others get the event loop. */
const BOOKED_AT_ONCE = 200

/** Writes the receipts of all hosts that a renewal or a converge has changed. */
async function bookMembers(
  { run, afters, members }: Ended,
  leases: readonly Lease[],
  renewedFiles: RenewedFiles,
  session: StoreSession,
): Promise<void> {
  const fences = new Map(leases.map(({ name, fence }) => [hostOfLease(name), fence]))
  const filesAfter = renewedFiles(afters.proxy?.files ?? [])
  const receiptAfter = (host: string, receipt: Receipt): Receipt | undefined => {
    const entry = afters.proxy?.entries?.[host]
    if (run.action === 'converge') return convergedReceipt(receipt, entry, afters.proxy?.formerTexts?.[host])
    if (!coversHost(afters.certificate?.names ?? [], host)) return undefined
    return renewedReceipt(receipt, filesAfter(host, receipt.files), afters)
  }
  for (let from = 0; from < members.length; from += BOOKED_AT_ONCE) {
    const changed = members.slice(from, from + BOOKED_AT_ONCE).flatMap(({ host, planId, receipt: former }) => {
      const fence = fences.get(host)
      const receipt = former && receiptAfter(host, former)
      return receipt && fence !== undefined ? [{ host, planId, fence, receipt }] : []
    })
    await session.setExposureReceipts(changed)
  }
}
