import type { Plan } from '../api/plans.ts'
import { inFull, span, timeLeft, useNow } from '../parts/time.ts'

/** How long the plan can still be applied, and when the exposure is removed. */
export function Life({ plan }: { readonly plan: Plan }) {
  const now = useNow(10_000)
  const isMortal = plan.state === 'planned' || plan.state === 'rolled_back'
  const { expiresIn } = plan.request
  return (
    <>
      {isMortal && (
        <div>
          <dt>Plan valid until</dt>
          <dd>
            <span>
              <time dateTime={plan.expiresAt}>{inFull(plan.expiresAt)}</time>, for{' '}
              {timeLeft(Date.parse(plan.expiresAt) - now)}
            </span>
          </dd>
        </div>
      )}
      {expiresIn !== undefined && (
        <div>
          <dt>Removes itself</dt>
          <dd>{span(expiresIn * 1000)} after it was applied</dd>
        </div>
      )}
    </>
  )
}
