import { type Plan, usePlan } from '../api/plans.ts'
import type { Policy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { deedsOf } from '../plan/contrasts.ts'
import { useOwnerConsent } from './owner-consent.tsx'
import styles from './RunPanel.module.css'

interface ApplyDialogProps {
  readonly plan: Plan
  readonly policy: Policy
  readonly onCancel: () => void
  readonly onApply: () => void
}

export function ApplyDialog({ plan, policy, onCancel, onApply }: ApplyDialogProps) {
  const { server, port } = plan.request
  const { primary, secondary } = policy.servers
  const { replaces } = plan.request
  const { data: former } = usePlan(replaces)
  const { isGiven, question } = useOwnerConsent([former?.request.owner])
  const isReady = isGiven && (replaces === undefined || former !== undefined)
  return (
    <Dialog title={`Apply ${plan.host}?`} onClose={onCancel}>
      <p className={styles.target}>
        Backend on server {server}, port {port}. It is verified on the Primary ({primary})
        {secondary && ` and, without deciding, on the Secondary (${secondary})`}.
      </p>
      <ul className={styles.deeds}>
        {deedsOf(plan, 'apply').map((deed) => (
          <li key={deed}>{deed}</li>
        ))}
      </ul>
      {question}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="main" disabled={!isReady} onClick={onApply}>
          Apply {plan.host}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
