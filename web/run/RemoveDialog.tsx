import { type ReactNode, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { useOwnerConsent } from './owner-consent.tsx'
import styles from './RunPanel.module.css'

interface RemoveDialogProps {
  /** What is removed, as title and button say it: a host, or their number. */
  readonly what: string
  /** The user must type it, which prevents accidents. */
  readonly typed: string
  readonly owners: readonly (string | undefined)[]
  /** One line each. */
  readonly list: readonly string[]
  /** What stands above the list. */
  readonly children: ReactNode
  readonly onCancel: () => void
  readonly onRemove: () => void
}

/** Asks before one exposure or many are removed. */
export function RemoveDialog({ what, typed: wanted, owners, list, children, onCancel, onRemove }: RemoveDialogProps) {
  const [typed, setTyped] = useState('')
  const { isGiven, question } = useOwnerConsent(owners)
  const isSame = typed.trim().toLowerCase() === wanted
  return (
    <Dialog title={`Remove ${what}?`} onClose={onCancel}>
      {children}
      <ul className={styles.deeds}>
        {list.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isSame && isGiven) onRemove()
        }}
      >
        <Field label={`Type ${wanted} to confirm`}>
          {(props) => <TermInput {...props} value={typed} onChange={(event) => setTyped(event.target.value)} />}
        </Field>
        {question}
        <DialogActions>
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" look="danger" disabled={!isSame || !isGiven}>
            Remove {what}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
