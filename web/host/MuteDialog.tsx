import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { isNote, LONGEST_NOTE } from '../../src/model/exposure.ts'
import { client } from '../api/client.ts'
import type { HostRow } from '../api/hosts.ts'
import { Button } from '../parts/Button.tsx'
import control from '../parts/control.module.css'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { useOwnerConsent } from '../run/owner-consent.tsx'

interface Wanted {
  readonly expiresIn: number | undefined
  readonly note: string
}

interface MuteDialogProps {
  readonly row: HostRow
  readonly onClose: () => void
}

/** Mutes a host, or ends its mute. The stream of changes tells the new row. */
export default function MuteDialog({ row: { host, muted, owner }, onClose }: MuteDialogProps) {
  const muting = useMutation({
    mutationFn: (wanted: Wanted | undefined) =>
      wanted
        ? client.mute(host, {
            ...(wanted.expiresIn !== undefined && { expiresIn: wanted.expiresIn }),
            ...(wanted.note && { note: wanted.note }),
          })
        : client.unmute(host),
    onSuccess: onClose,
  })
  const consent = useOwnerConsent([owner])
  const asking = { muting, consent, onClose, host }
  return muted ? <EndMute {...asking} /> : <Mute {...asking} />
}

interface AskingProps {
  readonly host: string
  readonly muting: {
    readonly mutate: (wanted: Wanted | undefined) => void
    readonly isPending: boolean
    readonly error: Error | null
  }
  readonly consent: ReturnType<typeof useOwnerConsent>
  readonly onClose: () => void
}

function EndMute({ host, muting, consent, onClose }: AskingProps) {
  return (
    <Dialog title={`End the mute of ${host}?`} onClose={onClose}>
      <p>Its trouble counts among the hosts that need attention again, and alerts people.</p>
      {consent.question}
      {muting.error && <Trouble fault={muting.error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="main"
          busy={muting.isPending}
          disabled={!consent.isGiven}
          onClick={() => muting.mutate(undefined)}
        >
          End mute
        </Button>
      </DialogActions>
    </Dialog>
  )
}

const TIMES = [
  ['3600', 'One hour'],
  ['14400', 'Four hours'],
  ['86400', 'One day'],
  ['604800', 'One week'],
  ['', 'Until somebody ends it'],
] as const

function Mute({ host, muting, consent: { isGiven, question }, onClose }: AskingProps) {
  const [seconds, setSeconds] = useState<string>('3600')
  const [note, setNote] = useState('')
  const isBad = note.trim() !== '' && !isNote(note.trim())
  return (
    <Dialog title={`Mute ${host}?`} onClose={onClose}>
      <p>It is checked as before. Its trouble alerts nobody and does not count among the hosts that need attention.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBad && isGiven)
            muting.mutate({ expiresIn: seconds === '' ? undefined : Number(seconds), note: note.trim() })
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
        {muting.error && <Trouble fault={muting.error} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" busy={muting.isPending} disabled={isBad || !isGiven}>
            Mute {host}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
