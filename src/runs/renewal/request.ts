import { IssueFault } from '../../certificates/contract.ts'
import { Fault, Problem, sentenceOf } from '../../model/errors.ts'
import type { Plan } from '../../model/exposure.ts'
import { hostLease } from '../../model/run.ts'
import type { ExposureStore } from '../../store/ports/exposures.ts'
import type { LeaseStore } from '../../store/ports/leases.ts'

/** Refuses a renewal that is asked for while the plan is not on the air, or while its host is somebody else's to change. */
export async function assertRenewable(
  { planId, host, state }: Plan,
  session: Pick<ExposureStore, 'findExposure'> & Pick<LeaseStore, 'findLease'>,
  now: number,
): Promise<void> {
  const exposure = await session.findExposure(host)
  const isBusy = state === 'applying' || state === 'removing'
  if (isBusy) throw new Problem('plan_busy', `The plan is ${state} just now.`, { retryAfter: 5 })
  if (exposure?.planId === planId && exposure.state === 'blocked')
    throw new Problem('plan_busy', 'The plan is blocked: what it changed could not be put back.', {
      nextAction: 'Run drawbridge resolve with the plan id on the server.',
    })
  if (exposure?.planId !== planId || exposure.state !== 'applied')
    throw new Problem('plan_not_applied', `The plan is ${state}; only an applied plan has a certificate in use.`)
  if (await session.findLease(hostLease(host), now))
    throw new Problem('plan_busy', `Another run for ${host} is under way.`, { retryAfter: 5 })
}

/** What the caller is told of a renewal that failed: the former certificate is still served. */
export function renewalProblem(fault: unknown): Problem {
  if (fault instanceof Problem) return fault
  const members = fault instanceof Fault && fault.retryAfter !== undefined ? { retryAfter: fault.retryAfter } : {}
  if (fault instanceof IssueFault) return new Problem('certificate_unavailable', fault.message, members)
  return new Problem((fault instanceof Fault && fault.code) || 'renew_failed', sentenceOf(fault), members)
}
