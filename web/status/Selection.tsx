import { useRef, useState } from 'react'
import { client } from '../api/client.ts'
import type { HostRow } from '../api/hosts.ts'
import { ExtendDialog } from '../host/ExtendDialog.tsx'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/Notice.tsx'
import { RemoveDialog } from '../run/RemoveDialog.tsx'
import styles from './Selection.module.css'

/** More than this at once is no accident to be risked. */
const MOST = 50

interface SelectionProps {
  /** The hosts that are selected. Each has a plan. */
  readonly rows: readonly HostRow[]
  readonly onClear: () => void
}

interface Outcome {
  readonly host: string
  readonly fault: string | undefined
}

interface Progress {
  readonly verb: string
  readonly all: number
  readonly done: readonly Outcome[]
}

/** Extends or removes the selected exposures, after one confirmation that lists them. */
export default function Selection({ rows, onClear }: SelectionProps) {
  const [asked, setAsked] = useState<'extend' | 'remove' | undefined>()
  const [progress, setProgress] = useState<Progress>()
  const place = useRef<HTMLDivElement>(null)
  const ending = rows.filter(({ expiresAt }) => expiresAt !== null)
  const isRunning = progress !== undefined && progress.done.length < progress.all
  const runAll = async (verb: string, chosen: readonly HostRow[], act: (planId: string) => Promise<unknown>) => {
    setAsked(undefined)
    const done: Outcome[] = []
    setProgress({ verb, all: chosen.length, done })
    // The progress takes the place of the pressed button.
    requestAnimationFrame(() => place.current?.focus())
    for (const { host, planId = '' } of chosen) {
      const fault = await act(planId).then(
        () => undefined,
        (error: Error) => error.message,
      )
      done.push({ host, fault })
      setProgress({ verb, all: chosen.length, done: [...done] })
    }
  }
  const hosts = (some: readonly HostRow[]) => some.map(({ host }) => host)
  const owners = (some: readonly HostRow[]) => some.map(({ owner }) => owner)
  if (rows.length === 0 && !progress) return null
  return (
    <section className={styles.bar} aria-label="Selected exposures">
      <div ref={place} tabIndex={-1} className={styles.progress}>
        {progress && <ProgressOf progress={progress} />}
      </div>
      <p className={styles.count}>
        {rows.length > MOST ? `${rows.length} selected, at most ${MOST} at once` : `${rows.length} selected`}
      </p>
      {!isRunning && ending.length > 0 && rows.length <= MOST && (
        <Button onClick={() => setAsked('extend')}>{`Extend ${ending.length}…`}</Button>
      )}
      {!isRunning && rows.length > 0 && rows.length <= MOST && (
        <Button onClick={() => setAsked('remove')}>{`Remove ${rows.length}…`}</Button>
      )}
      {!isRunning && (
        <Button look="quiet" onClick={onClear}>
          {rows.length > 0 ? 'Clear' : 'Close'}
        </Button>
      )}
      {asked === 'extend' && (
        <ExtendDialog
          hosts={hosts(ending)}
          owners={owners(ending)}
          onCancel={() => setAsked(undefined)}
          onExtend={(seconds) => void runAll('Extended', ending, (planId) => client.extendPlan(planId, seconds))}
        />
      )}
      {asked === 'remove' && (
        <RemoveDialog
          what={counted(hosts(rows))}
          typed={String(rows.length)}
          owners={owners(rows)}
          list={hosts(rows)}
          onCancel={() => setAsked(undefined)}
          onRemove={() => void runAll('Removed', rows, (planId) => client.removePlan(planId))}
        >
          <p>Name and proxy entry of each are removed, one after the other. The backends are not touched.</p>
        </RemoveDialog>
      )}
    </section>
  )
}

function ProgressOf({ progress: { verb, all, done } }: { readonly progress: Progress }) {
  const failed = done.filter(({ fault }) => fault !== undefined)
  const tone = failed.length > 0 ? 'warning' : done.length < all ? 'calm' : 'good'
  return (
    <Notice
      tone={tone}
      title={`${verb}: ${done.length} of ${all}${failed.length > 0 ? `, ${failed.length} failed` : ''}`}
      live
    >
      {failed.map(({ host, fault }) => (
        <p key={host}>
          {host}: {fault}
        </p>
      ))}
    </Notice>
  )
}

const counted = (hosts: readonly string[]): string =>
  hosts.length === 1 ? (hosts[0] ?? '') : `${hosts.length} exposures`
