import { useDiagnosis } from '../api/diagnosis.ts'
import type { Plan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Panel } from '../parts/Panel.tsx'
import { allowedActs } from './acts.ts'
import { Repairs } from './Repairs.tsx'

/** On the page of an applied plan: what can be done about a host that is not as it was applied, for callers who may. */
export function RepairPanel({ plan, policy }: { readonly plan: Plan; readonly policy: Policy }) {
  const isInside = policy.caller.network === 'internal'
  const { data: diagnosis } = useDiagnosis(isInside ? plan.host : undefined)
  if (!diagnosis || allowedActs(diagnosis.cause.acts, policy).length === 0) return null
  const { sentence, advice, acts } = diagnosis.cause
  return (
    <Panel title="What can be done">
      <p>
        {sentence} {advice}
      </p>
      <Repairs plan={plan} policy={policy} acts={acts} />
    </Panel>
  )
}
