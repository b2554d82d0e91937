import { useEffect, useId, useRef, useState } from 'react'
import { type Diagnosis, useDiagnosis } from '../api/diagnosis.ts'
import { useHosts } from '../api/hosts.ts'
import { usePlan } from '../api/plans.ts'
import { usePolicy } from '../api/policy.ts'
import { HostActs } from '../host/HostActs.tsx'
import { Standing } from '../host/Standing.tsx'
import { Badge } from '../parts/Badge.tsx'
import { Button } from '../parts/Button.tsx'
import { CopyButton } from '../parts/CopyButton.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { inFull, took } from '../parts/time.ts'
import { allowedActs } from '../repair/acts.ts'
import { Repairs } from '../repair/Repairs.tsx'
import { Link } from '../shell/Link.tsx'
import { Cause } from './Cause.tsx'
import { Chain } from './Chain.tsx'
import styles from './DiagnosisPanel.module.css'
import { Facts } from './Facts.tsx'
import { opened, watchBadge } from './look-again.ts'
import { reportOf } from './report.ts'

interface DiagnosisPanelProps {
  readonly host: string
  readonly onClose: () => void
}

export default function DiagnosisPanel({ host, onClose }: DiagnosisPanelProps) {
  const look = useDiagnosis(host)
  const { data: policy } = usePolicy()
  const row = useHosts().data?.rows.find((one) => one.host === host)
  const [isExtending, setExtending] = useState(false)
  const titleId = useId()
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  useEscape(onClose)
  useLookAgain(row?.badge, look)
  const diagnosis = look.data
  const badge = diagnosis?.badge ?? row?.badge
  return (
    <section className={styles.panel} aria-labelledby={titleId} aria-busy={look.isFetching}>
      <header className={styles.head}>
        <div className={styles.title}>
          <h2 id={titleId} ref={title} tabIndex={-1}>
            <span className="off-screen">Diagnosis of </span>
            {host}
          </h2>
          {badge && <Badge badge={badge} />}
        </div>
        <Button look="quiet" icon="cross" onClick={onClose} aria-label="Close the diagnosis" title="Close (Esc)" />
      </header>
      {row && <Standing row={row} />}
      {look.isPending && <Skeleton lines={9} what={`the diagnosis of ${host}`} />}
      {look.error && !look.isFetching && <Trouble fault={look.error} again={() => void look.refetch()} />}
      <Cause cause={diagnosis?.cause} />
      {diagnosis && (
        <>
          <RepairSection diagnosis={diagnosis} />
          {row && policy && (
            <HostActs
              row={row}
              policy={policy}
              isRepairOffered={allowedActs(diagnosis.cause.acts, policy).includes('repair')}
              isExtending={isExtending}
              setExtending={setExtending}
            />
          )}
          <Chain chain={diagnosis.chain} badge={diagnosis.badge} certificate={row?.certificate?.level} />
          <Facts diagnosis={diagnosis} row={row} />
          <footer className={styles.foot}>
            <p>
              Checked {inFull(diagnosis.checkedAt)}, took {took(diagnosis.tookMs)}
            </p>
            <div className={styles.actions}>
              <Button icon="again" busy={look.isFetching} onClick={() => void look.refetch()}>
                Look again
              </Button>
              <CopyButton text={reportOf(diagnosis)} what="the diagnosis">
                Copy all
              </CopyButton>
              <CopyButton text={`${location.origin}/hosts/${host}`} what="the link to this diagnosis" icon="link">
                Copy link
              </CopyButton>
              <Button icon="print" onClick={() => window.print()}>
                Print
              </Button>
              {row?.planId && <Link to={`/plans/${row.planId}`}>Plan and removal</Link>}
              <Link to={`/hosts/${host}/details`}>Host page</Link>
            </div>
          </footer>
        </>
      )}
    </section>
  )
}

/**
 * What can be done about the cause, for callers who may. It stays while the panel is open: after an accept the host has no
 * plan any more, and the result of the run is still to be read.
 */
function RepairSection({ diagnosis: { planId, cause } }: { readonly diagnosis: Diagnosis }) {
  const { data: policy } = usePolicy()
  const first = useRef(planId)
  first.current ??= planId
  const isOffered = useRef(false)
  if (policy && allowedActs(cause.acts, policy).length > 0) isOffered.current = true
  const { data: plan } = usePlan(isOffered.current ? first.current : undefined)
  if (!plan || !policy) return null
  return (
    <section className={styles.repairs} aria-label="What can be done">
      <h3>What can be done</h3>
      <Repairs plan={plan} policy={policy} acts={cause.acts} withRun />
    </section>
  )
}

function useEscape(onEscape: () => void): void {
  const hear = useRef(onEscape)
  hear.current = onEscape
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]')) hear.current()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

/** Looks again when the badge of the list has made the diagnosis outdated. */
function useLookAgain(
  live: string | undefined,
  { data, isFetching, refetch }: Pick<ReturnType<typeof useDiagnosis>, 'data' | 'isFetching' | 'refetch'>,
): void {
  const seen = useRef(opened(live))
  useEffect(() => {
    const { watched, isOutdated } = watchBadge(seen.current, { live, diagnosed: data?.badge, isLooking: isFetching })
    seen.current = watched
    if (isOutdated) void refetch()
  })
}
