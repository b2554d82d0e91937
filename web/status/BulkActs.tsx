import { useRef, useState } from 'react'
import { client } from '../api/client.ts'
import type { HostRow } from '../api/hosts.ts'
import { usePolicy } from '../api/policy.ts'
import { ExtendDialog } from '../host/ExtendDialog.tsx'
import { Button } from '../parts/Button.tsx'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Notice } from '../parts/Notice.tsx'
import { TermInput } from '../parts/TermInput.tsx'
import { useOwnerConsent } from '../run/owner-consent.tsx'
import run from '../run/RunPanel.module.css'
import styles from './BulkActs.module.css'

/** More than this at once is no accident to be risked. */
const MOST = 50

interface BulkActsProps {
  /** The hosts that the filters show. */
  readonly rows: readonly HostRow[]
  readonly isFiltered: boolean
}

interface Outcome {
  readonly host: string
  readonly fault: string | undefined
}

/** Extends or removes every managed host that the filters show, after one confirmation that lists them. */
export function BulkActs({ rows, isFiltered }: BulkActsProps) {
  const { data: policy } = usePolicy()
  const [asked, setAsked] = useState<'extend' | 'remove' | undefined>()
  const [progress, setProgress] = useState<{
    readonly verb: string
    readonly all: number
    readonly done: readonly Outcome[]
  }>()
  const place = useRef<HTMLDivElement>(null)
  const managed = rows.flatMap(({ host, planId, expiresAt, owner }) =>
    planId ? [{ host, planId, expiresAt, owner }] : [],
  )
  const ending = managed.filter(({ expiresAt }) => expiresAt !== null)
  if (!policy?.caller.may.includes('remove')) return null
  const isRunning = progress !== undefined && progress.done.length < progress.all
  const runAll = async (verb: string, chosen: typeof managed, act: (planId: string) => Promise<unknown>) => {
    setAsked(undefined)
    const done: Outcome[] = []
    setProgress({ verb, all: chosen.length, done })
    // The progress takes the place of the pressed button.
    requestAnimationFrame(() => place.current?.focus())
    for (const { host, planId } of chosen) {
      const fault = await act(planId).then(
        () => undefined,
        (error: Error) => error.message,
      )
      done.push({ host, fault })
      setProgress({ verb, all: chosen.length, done: [...done] })
    }
  }
  const isOffered = isFiltered && managed.length > 1 && managed.length <= MOST
  const failed = progress?.done.filter(({ fault }) => fault !== undefined) ?? []
  return (
    <>
      {isOffered && !isRunning && (
        <div className={styles.acts}>
          {ending.length > 1 && (
            <Button onClick={() => setAsked('extend')}>Extend {ending.length} shown exposures…</Button>
          )}
          <Button onClick={() => setAsked('remove')}>Remove {managed.length} shown exposures…</Button>
        </div>
      )}
      <div ref={place} tabIndex={-1}>
        {progress && (
          <Notice
            tone={failed.length > 0 ? 'warning' : isRunning ? 'calm' : 'good'}
            title={`${progress.verb}: ${progress.done.length} of ${progress.all}${failed.length > 0 ? `, ${failed.length} failed` : ''}`}
            live
          >
            {failed.map(({ host, fault }) => (
              <p key={host}>
                {host}: {fault}
              </p>
            ))}
          </Notice>
        )}
      </div>
      {asked === 'extend' && (
        <ExtendDialog
          hosts={ending.map(({ host }) => host)}
          owners={ending.map(({ owner }) => owner)}
          onCancel={() => setAsked(undefined)}
          onExtend={(seconds) => void runAll('Extended', ending, (planId) => client.extendPlan(planId, seconds))}
        />
      )}
      {asked === 'remove' && (
        <RemoveAllDialog
          hosts={managed.map(({ host }) => host)}
          owners={managed.map(({ owner }) => owner)}
          onCancel={() => setAsked(undefined)}
          onRemove={() => void runAll('Removed', managed, (planId) => client.removePlan(planId))}
        />
      )}
    </>
  )
}

interface RemoveAllDialogProps {
  readonly hosts: readonly string[]
  readonly owners: readonly (string | undefined)[]
  readonly onCancel: () => void
  readonly onRemove: () => void
}

/** The user types the number of hosts, which prevents accidents. */
function RemoveAllDialog({ hosts, owners, onCancel, onRemove }: RemoveAllDialogProps) {
  const [typed, setTyped] = useState('')
  const { isGiven, question } = useOwnerConsent(owners)
  const isSame = typed.trim() === String(hosts.length)
  return (
    <Dialog title={`Remove ${hosts.length} exposures?`} onClose={onCancel}>
      <p>Name and proxy entry of each are removed, one after the other. The backends are not touched.</p>
      <ul className={run.deeds}>
        {hosts.map((host) => (
          <li key={host}>{host}</li>
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isSame && isGiven) onRemove()
        }}
      >
        <Field label={`Type ${hosts.length} to confirm`}>
          {(props) => <TermInput {...props} value={typed} onChange={(event) => setTyped(event.target.value)} />}
        </Field>
        {question}
        <DialogActions>
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" look="danger" disabled={!isSame || !isGiven}>
            Remove {hosts.length} exposures
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
