import type { Act } from '../api/diagnosis.ts'
import type { Difference } from '../api/drift.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { useOwnerConsent } from '../run/owner-consent.tsx'
import styles from '../run/RunPanel.module.css'
import { deedsOfAct, LABELS } from './acts.ts'

interface ActDialogProps {
  readonly act: Act
  readonly host: string
  readonly owner: string | undefined
  readonly differences: readonly Difference[]
  readonly onCancel: () => void
  readonly onConfirm: () => void
}

const TITLES: Record<Act, (host: string) => string> = {
  repair: (host) => `Repair ${host}?`,
  overwrite: (host) => `Overwrite and repair ${host}?`,
  accept: (host) => `Accept ${host} as it stands?`,
  renew: (host) => `Renew the certificate of ${host}?`,
}

/** Says what an act does before it is done. */
export function ActDialog({ act, host, owner, differences, onCancel, onConfirm }: ActDialogProps) {
  const { isGiven, question } = useOwnerConsent([owner])
  return (
    <Dialog title={TITLES[act](host)} onClose={onCancel}>
      <ul className={styles.deeds}>
        {deedsOfAct(act, host, differences).map((deed) => (
          <li key={deed}>{deed}</li>
        ))}
      </ul>
      {question}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button
          look={act === 'overwrite' || act === 'accept' ? 'danger' : 'main'}
          disabled={!isGiven}
          onClick={onConfirm}
        >
          {LABELS[act]}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
