import { useDeferredValue, useMemo, useRef } from 'react'
import { type Hosts, useHosts } from '../api/hosts.ts'
import { DiagnosisPanel } from '../diagnosis/DiagnosisPanel.tsx'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { inFull } from '../parts/time.ts'
import { Link } from '../shell/Link.tsx'
import { go } from '../shell/location.ts'
import { useTitle } from '../shell/Page.tsx'
import { HostTable } from './HostTable.tsx'
import { badgeCounts, inOrder, matching, serversOf, WHOLE_VIEW } from './host-list.ts'
import styles from './StatusPage.module.css'
import { Toolbar } from './Toolbar.tsx'
import { queryOf, useView } from './view.ts'

/** The list of hosts and, if one is open, its diagnosis. */
export function StatusPage({ host }: { readonly host: string | undefined }) {
  useTitle(host ?? 'Status')
  const hosts = useHosts()
  const [view, setView] = useView()
  const { search, badge, server, sort, descending } = useDeferredValue(view)
  const rows = hosts.data?.rows
  const ordered = useMemo(() => inOrder(rows ?? [], { sort, descending }), [rows, sort, descending])
  const shown = useMemo(() => matching(ordered, { search, badge, server }), [ordered, search, badge, server])
  const counts = useMemo(() => badgeCounts(rows ?? []), [rows])
  const servers = useMemo(() => serversOf(rows ?? []), [rows])
  const query = queryOf(view)
  const list = useRef<HTMLElement>(null)
  const focusList = () => list.current?.querySelector<HTMLElement>('[role="row"] a[tabindex="0"]')?.focus()
  const close = () => {
    go(`/${query}`)
    requestAnimationFrame(focusList)
  }
  return (
    <div className={styles.status} data-open={host !== undefined}>
      <section ref={list} className={styles.list} aria-label="Hosts">
        <header className={styles.head}>
          <h1>Status</h1>
          {hosts.data?.edges.map((edge) => edge.outOfStep && <OutOfStep key={edge.server} edge={edge} />)}
          <Toolbar
            view={view}
            onChange={setView}
            counts={counts}
            servers={servers}
            total={hosts.data?.total ?? 0}
            found={shown.length}
            onLeave={focusList}
          />
        </header>
        {hosts.isPending && <Skeleton lines={12} what="all hosts" />}
        {hosts.error && !hosts.data && <Trouble fault={hosts.error} again={() => void hosts.refetch()} />}
        {hosts.data && shown.length > 0 && (
          <HostTable rows={shown} view={view} onSort={setView} open={host} query={query} />
        )}
        {hosts.data?.rows.length === 0 && <NothingYet />}
        {hosts.data && hosts.data.rows.length > 0 && shown.length === 0 && (
          <div className={styles.empty}>
            <h2>No host matches</h2>
            <p>None of {hosts.data.rows.length} hosts fits this search and these filters.</p>
            <Button onClick={() => setView(WHOLE_VIEW)}>Show all hosts</Button>
          </div>
        )}
      </section>
      {host !== undefined && <DiagnosisPanel key={host} host={host} onClose={close} />}
    </div>
  )
}

/** An edge that does not have every host as the store says. */
function OutOfStep({ edge: { server, hosts, outOfStep } }: { readonly edge: Hosts['edges'][number] }) {
  if (!outOfStep) return null
  const count = hosts === 1 ? '1 host is' : `${hosts} hosts are`
  return (
    <Notice tone="warning" title={`Edge ${server} is not in step`} live>
      <p>
        {outOfStep.detail} {hosts > 0 && `${count} not there as applied.`} Seen since{' '}
        <time dateTime={outOfStep.since}>{inFull(outOfStep.since)}</time>.
      </p>
    </Notice>
  )
}

function NothingYet() {
  return (
    <div className={styles.empty}>
      <h2>Nothing is on the air yet</h2>
      <p>When a plan is applied, or the edge's own configuration serves a name, it shows here with how it does.</p>
      <Link to="/plan">Plan an exposure</Link>
    </div>
  )
}
