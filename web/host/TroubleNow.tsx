import { useDiagnosis } from '../api/diagnosis.ts'
import type { HostRow } from '../api/hosts.ts'
import { usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Cause } from '../diagnosis/Cause.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { allowedActs } from '../repair/acts.ts'
import { Repairs } from '../repair/Repairs.tsx'
import { isDown } from '../status/attention.ts'
import styles from './HostPage.module.css'

interface TroubleNowProps {
  readonly row: HostRow
  readonly policy: Policy
}

/** The page of a red host begins with the cause, and with what can be done about it. */
export function TroubleNow({ row, policy }: TroubleNowProps) {
  const isRed = isDown(row) || row.badge === 'DRIFT'
  const { data: diagnosis, isPending } = useDiagnosis(isRed ? row.host : undefined)
  const acts = diagnosis ? diagnosis.cause.acts : []
  const mayAct = allowedActs(acts, policy).length > 0
  const { data: plan } = usePlan(mayAct ? row.planId : undefined)
  if (!isRed) return null
  return (
    <section aria-label="Cause" className={styles.trouble}>
      {isPending && <Skeleton lines={2} what="the cause" />}
      {diagnosis && <Cause cause={diagnosis.cause} />}
      {mayAct && plan && <Repairs plan={plan} policy={policy} acts={acts} withRun />}
    </section>
  )
}
