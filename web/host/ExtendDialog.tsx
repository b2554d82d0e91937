import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import control from '../parts/control.module.css'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { useOwnerConsent } from '../run/owner-consent.tsx'
import styles from '../run/RunPanel.module.css'

interface ExtendDialogProps {
  readonly hosts: readonly string[]
  readonly owners: readonly (string | undefined)[]
  readonly onCancel: () => void
  readonly onExtend: (seconds: number) => void
}

const TIMES = [
  [3_600, 'One hour from now'],
  [86_400, 'One day from now'],
  [604_800, 'One week from now'],
  [2_592_000, '30 days from now'],
] as const

/** Asks how long exposures shall live, and lists them. */
export function ExtendDialog({ hosts, owners, onCancel, onExtend }: ExtendDialogProps) {
  const [seconds, setSeconds] = useState(604_800)
  const { isGiven, question } = useOwnerConsent(owners)
  const what = hosts.length === 1 ? (hosts[0] ?? '') : `${hosts.length} exposures`
  return (
    <Dialog title={`Extend ${what}?`} onClose={onCancel}>
      {hosts.length > 1 && (
        <ul className={styles.deeds}>
          {hosts.map((host) => (
            <li key={host}>{host}</li>
          ))}
        </ul>
      )}
      <Field label="Removes itself" hint="An exposure is never shortened by this.">
        {(props) => (
          <select
            {...props}
            className={control.control}
            value={seconds}
            onChange={(event) => setSeconds(Number(event.target.value))}
          >
            {TIMES.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
      {question}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button look="main" disabled={!isGiven} onClick={() => onExtend(seconds)}>
          Extend {what}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
