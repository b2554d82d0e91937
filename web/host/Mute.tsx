import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { isNote, LONGEST_NOTE } from '../../src/model/exposure.ts'
import { client } from '../api/client.ts'
import type { HostRow } from '../api/hosts.ts'
import { Button } from '../parts/Button.tsx'
import control from '../parts/control.module.css'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Notice } from '../parts/Notice.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { inFull } from '../parts/time.ts'
import { useOwnerConsent } from '../run/owner-consent.tsx'
import styles from '../run/RunPanel.module.css'

interface Wanted {
  readonly expiresIn: number | undefined
  readonly note: string
}

/** Whether trouble of a host alerts anybody, and the button that changes it. The stream of changes tells the new row. */
export function Mute({ row: { host, muted, owner } }: { readonly row: HostRow }) {
  const [isAsked, setIsAsked] = useState(false)
  const muting = useMutation({
    mutationFn: (wanted: Wanted | undefined) =>
      wanted
        ? client.mute(host, {
            ...(wanted.expiresIn !== undefined && { expiresIn: wanted.expiresIn }),
            ...(wanted.note && { note: wanted.note }),
          })
        : client.unmute(host),
  })
  return (
    <>
      {muted ? (
        <Notice tone="calm" title={muted.until ? `Muted until ${inFull(muted.until)}` : 'Muted until somebody ends it'}>
          <p>
            By {muted.by}
            {muted.note && `: ${muted.note}`}. The host is checked as before. Its trouble alerts nobody and does not
            count among the hosts that need attention.
          </p>
        </Notice>
      ) : (
        <p>Trouble of this host counts among the hosts that need attention, and alerts people.</p>
      )}
      {muting.error && <Trouble fault={muting.error} />}
      <div className={styles.actions}>
        <Button busy={muting.isPending} onClick={() => (muted ? muting.mutate(undefined) : setIsAsked(true))}>
          {muted ? 'End mute' : 'Mute…'}
        </Button>
      </div>
      {isAsked && (
        <MuteDialog
          host={host}
          owner={owner}
          onCancel={() => setIsAsked(false)}
          onMute={(wanted) => {
            setIsAsked(false)
            muting.mutate(wanted)
          }}
        />
      )}
    </>
  )
}

const TIMES = [
  ['3600', 'One hour'],
  ['14400', 'Four hours'],
  ['86400', 'One day'],
  ['604800', 'One week'],
  ['', 'Until somebody ends it'],
] as const

interface MuteDialogProps {
  readonly host: string
  readonly owner: string | undefined
  readonly onCancel: () => void
  readonly onMute: (wanted: Wanted) => void
}

function MuteDialog({ host, owner, onCancel, onMute }: MuteDialogProps) {
  const [seconds, setSeconds] = useState<string>('3600')
  const [note, setNote] = useState('')
  const { isGiven, question } = useOwnerConsent([owner])
  const isBad = note.trim() !== '' && !isNote(note.trim())
  return (
    <Dialog title={`Mute ${host}?`} onClose={onCancel}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBad && isGiven) onMute({ expiresIn: seconds === '' ? undefined : Number(seconds), note: note.trim() })
        }}
      >
        <Field label="For how long">
          {(props) => (
            <select
              {...props}
              className={control.control}
              value={seconds}
              onChange={(event) => setSeconds(event.target.value)}
            >
              {TIMES.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="Why"
          hint="Optional. People see it beside the host."
          error={isBad ? 'Letters, digits and plain punctuation only.' : undefined}
        >
          {(props) => (
            <TermInput
              {...props}
              maxLength={LONGEST_NOTE}
              value={note}
              onChange={(event) => setNote(event.target.value)}
            />
          )}
        </Field>
        {question}
        <DialogActions>
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" look="main" disabled={isBad || !isGiven}>
            Mute {host}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
