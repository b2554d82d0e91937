import type { Plan } from '../api/plans.ts'
import { clock, inFull, span, useNow } from '../parts/time.ts'

/** A countdown until the plan expires, and when the exposure is removed. */
export function Life({ plan }: { readonly plan: Plan }) {
  const now = useNow()
  const isMortal = plan.state === 'planned' || plan.state === 'rolled_back'
  const { expiresIn } = plan.request
  return (
    <>
      {isMortal && (
        <div>
          <dt>May be applied for</dt>
          <dd>
            <time dateTime={plan.expiresAt} title={inFull(plan.expiresAt)}>
              {clock(Date.parse(plan.expiresAt) - now)}
            </time>
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
