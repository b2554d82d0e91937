import { useState } from 'react'
import type { Plan } from '../api/plans.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { deedsOf } from '../plan/contrasts.ts'
import { useOwnerConsent } from './owner-consent.tsx'
import styles from './RunPanel.module.css'

interface RemoveDialogProps {
  readonly plan: Plan
  readonly onCancel: () => void
  readonly onRemove: () => void
}

/** The user must type the name to remove it, which prevents accidents. */
export function RemoveDialog({ plan, onCancel, onRemove }: RemoveDialogProps) {
  const [typed, setTyped] = useState('')
  const { isGiven, question } = useOwnerConsent([plan.request.owner])
  const isSame = typed.trim().toLowerCase() === plan.host
  return (
    <Dialog title={`Remove ${plan.host}?`} onClose={onCancel}>
      <p className={styles.target}>
        Backend on server {plan.request.server}, port {plan.request.port}.
      </p>
      <ul className={styles.deeds}>
        {deedsOf(plan, 'remove').map((deed) => (
          <li key={deed}>{deed}</li>
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isSame && isGiven) onRemove()
        }}
      >
        <Field label={`Type ${plan.host} to confirm`}>
          {(props) => <TermInput {...props} value={typed} onChange={(event) => setTyped(event.target.value)} />}
        </Field>
        {question}
        <DialogActions>
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" look="danger" disabled={!isSame || !isGiven}>
            Remove {plan.host}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
