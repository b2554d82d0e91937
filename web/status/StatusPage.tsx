import { lazy, Suspense, useDeferredValue, useMemo, useRef, useState } from 'react'
import { type HostRow, type Hosts, type Live, useHosts } from '../api/hosts.ts'
import { usePolicy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import { Notice } from '../parts/Notice.tsx'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { inFull, useNow } from '../parts/time.ts'
import { LinkButton } from '../shell/LinkButton.tsx'
import { go } from '../shell/location.ts'
import { useTitle } from '../shell/Page.tsx'
import { needCounts } from './attention.ts'
import { Freshness } from './Freshness.tsx'
import { HostTable } from './HostTable.tsx'
import { badgeCounts, inOrder, matching, valuesOf, WHOLE_VIEW } from './host-list.ts'
import type { RowActs } from './RowActsCell.tsx'
import styles from './StatusPage.module.css'
import { Toolbar } from './Toolbar.tsx'
import { Verdict } from './Verdict.tsx'
import { queryOf, useView } from './view.ts'
import { Welcome } from './Welcome.tsx'

const DiagnosisPanel = lazy(() => import('../diagnosis/DiagnosisPanel.tsx'))
const Selection = lazy(() => import('./Selection.tsx'))
const MuteDialog = lazy(() => import('../host/MuteDialog.tsx'))

/** The list of hosts and, if one is open, its diagnosis. */
export function StatusPage({ host, live }: { readonly host: string | undefined; readonly live: Live }) {
  useTitle(host ?? 'Status')
  const hosts = useHosts()
  const [view, setView] = useView()
  const deferred = useDeferredValue(view)
  const { sort, descending } = deferred
  const now = useNow(10_000)
  const rows = hosts.data?.rows
  const ordered = useMemo(() => inOrder(rows ?? [], { sort, descending }), [rows, sort, descending])
  const shown = useMemo(() => matching(ordered, deferred, now), [ordered, deferred, now])
  const needs = useMemo(() => needCounts(rows ?? [], now), [rows, now])
  const counts = useMemo(() => badgeCounts(rows ?? []), [rows])
  const values = useMemo(() => {
    const of = (filter: 'server' | 'zone' | 'managed') => valuesOf(rows ?? [], filter)
    return { server: of('server'), zone: of('zone'), managed: of('managed') }
  }, [rows])
  const query = queryOf(view)
  const list = useRef<HTMLElement>(null)
  const focusList = () => list.current?.querySelector<HTMLElement>('[role="row"] a[tabindex="0"]')?.focus()
  const close = () => {
    go(`/${query}`)
    requestAnimationFrame(focusList)
  }
  const { acts, selected, clear, dialog } = useRowActs()
  const chosen = selected && rows ? rows.filter((row) => selected.has(row.host)) : []
  return (
    <div className={styles.status} data-open={host !== undefined}>
      <section ref={list} className={styles.list} aria-label="Hosts">
        <header className={styles.head}>
          <div className={styles.top}>
            <h1>Status</h1>
            <LinkButton to="/plan" look="main" icon="plus">
              Expose a service
            </LinkButton>
          </div>
          <Welcome />
          <div className={styles.line}>
            {rows && rows.length > 0 && (
              <Verdict
                counts={needs}
                total={hosts.data?.total ?? 0}
                chosen={view.need}
                onChoose={(need) => setView({ need })}
              />
            )}
            <Freshness live={live} />
          </div>
          {hosts.data?.edges.map((edge) => edge.outOfStep && <OutOfStep key={edge.server} edge={edge} />)}
          {hosts.data?.edges.map((edge) => edge.stray.length > 0 && <Stray key={edge.server} edge={edge} />)}
          <Toolbar
            view={view}
            onChange={setView}
            counts={counts}
            values={values}
            total={hosts.data?.total ?? 0}
            found={shown.length}
            onLeave={focusList}
          />
        </header>
        {hosts.isPending && <Skeleton lines={12} what="all hosts" />}
        {hosts.error && !hosts.data && <Trouble fault={hosts.error} again={() => void hosts.refetch()} />}
        {hosts.data && shown.length > 0 && (
          <HostTable
            rows={shown}
            view={view}
            onSort={setView}
            open={host}
            query={query}
            selected={selected}
            acts={acts}
          />
        )}
        {hosts.data?.rows.length === 0 && <NothingYet />}
        {hosts.data && hosts.data.rows.length > 0 && shown.length === 0 && (
          <div className={styles.empty}>
            <h2>No host matches</h2>
            <p>None of {hosts.data.rows.length} hosts fits this search and these filters.</p>
            <Button onClick={() => setView(WHOLE_VIEW)}>Show all hosts</Button>
          </div>
        )}
        <Suspense>
          {selected && selected.size > 0 && <Selection rows={chosen} onClear={clear} />}
          {dialog}
        </Suspense>
      </section>
      {host !== undefined && <h1 className={`off-screen ${styles.narrowTitle}`}>Status</h1>}
      {host !== undefined && (
        <Suspense fallback={<Skeleton lines={9} what={`the diagnosis of ${host}`} />}>
          <DiagnosisPanel key={host} host={host} onClose={close} />
        </Suspense>
      )}
    </div>
  )
}

/** What can be done in the rows, the selected hosts, and the dialog that asks. */
function useRowActs() {
  const { data: policy } = usePolicy()
  const [selected, setSelected] = useState<ReadonlySet<string>>(() => new Set())
  const [asked, setAsked] = useState<HostRow>()
  const isInside = policy?.caller.network === 'internal'
  const mayRemove = policy?.caller.may.includes('remove') ?? false
  const mayChange = policy?.caller.may.includes('apply') ?? false
  const acts = useMemo<RowActs>(
    () => ({
      select: ({ host }) =>
        setSelected((before) =>
          before.has(host) ? new Set([...before].filter((one) => one !== host)) : new Set([...before, host]),
        ),
      mute: isInside ? setAsked : undefined,
      mayChange,
    }),
    [isInside, mayChange],
  )
  return {
    acts,
    selected: mayRemove ? selected : undefined,
    clear: () => setSelected(new Set()),
    dialog: asked && <MuteDialog row={asked} onClose={() => setAsked(undefined)} />,
  }
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

/** Lines of nobody are drift of the edge. They are told here and at none of its hosts. */
function Stray({ edge: { server, stray } }: { readonly edge: Hosts['edges'][number] }) {
  return (
    <Notice tone="warning" title={`Edge ${server} has lines that belong to no host`}>
      <p>
        {stray.map(({ file, lines }) => `${file}: ${lines}`).join(', ')}. Nothing was overwritten, and no host counts as
        changed. <code>drawbridge doctor</code> tells how to remove them.
      </p>
    </Notice>
  )
}

function NothingYet() {
  return (
    <div className={styles.empty}>
      <h2>Nothing is exposed yet</h2>
      <p>
        Give a service of your network a name, a proxy entry and a certificate. A plan checks everything first and
        changes nothing.
      </p>
      <p>
        <Button look="main" onClick={() => go('/plan')}>
          Plan the first exposure
        </Button>
      </p>
      <p>
        In the lab, <code>npm start -- --demo</code> makes ten exposures in every state.
      </p>
    </div>
  )
}
