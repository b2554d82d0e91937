import { lazy, Suspense, useEffect, useRef } from 'react'
import { type Live, useLiveHosts } from '../api/hosts.ts'
import { usePolicy } from '../api/policy.ts'
import { useKeys } from '../palette/use-keys.ts'
import { Skeleton } from '../parts/Skeleton.tsx'
import { Trouble } from '../parts/Trouble.tsx'
import { StatusPage } from '../status/StatusPage.tsx'
import { useAlarm } from './alarm.ts'
import { Connection } from './Connection.tsx'
import { Link } from './Link.tsx'
import { type Screen, screenAt, usePath } from './location.ts'
import { Page } from './Page.tsx'
import styles from './Shell.module.css'
import { TopBar } from './TopBar.tsx'

// The status screen is loaded first, and the others when somebody goes to one of them.
const screens = () => import('./screens.ts')
const ActivityPage = lazy(async () => ({ default: (await screens()).ActivityPage }))
const CertificatesPage = lazy(async () => ({ default: (await screens()).CertificatesPage }))
const ChangePage = lazy(async () => ({ default: (await screens()).ChangePage }))
const HelpPage = lazy(async () => ({ default: (await screens()).HelpPage }))
const HostPage = lazy(async () => ({ default: (await screens()).HostPage }))
const NetworkPage = lazy(async () => ({ default: (await screens()).NetworkPage }))
const OnePlanPage = lazy(async () => ({ default: (await screens()).OnePlanPage }))
const PlanPage = lazy(async () => ({ default: (await screens()).PlanPage }))
const PlansPage = lazy(async () => ({ default: (await screens()).PlansPage }))
const KeysDialog = lazy(() => import('../palette/KeysDialog.tsx'))
const Palette = lazy(() => import('../palette/Palette.tsx'))

export function Shell() {
  const screen = screenAt(usePath())
  const live = useLiveHosts()
  useAlarm()
  const [opened, open] = useKeys()
  const main = useRef<HTMLElement>(null)
  const drawn = useRef(screen.name)
  useEffect(() => {
    if (drawn.current === screen.name) return
    drawn.current = screen.name
    window.scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [screen.name])
  return (
    <div className={styles.shell} data-screen={screen.name}>
      <a href="#main" className={styles.skip}>
        Skip to the content
      </a>
      <TopBar screen={screen.name} onSearch={() => open('palette')} />
      <Connection live={live.state} heardAt={live.heardAt} />
      <main id="main" ref={main} tabIndex={-1} className={styles.main}>
        <Suspense fallback={<Loading />}>
          <ScreenOf screen={screen} live={live} />
        </Suspense>
      </main>
      <Suspense>
        {opened === 'palette' && <Palette onClose={() => open(undefined)} />}
        {opened === 'keys' && <KeysDialog onClose={() => open(undefined)} />}
      </Suspense>
    </div>
  )
}

const Loading = () => (
  <Page title="Loading">
    <Skeleton lines={6} what="the page" />
  </Page>
)

/** The page needs the policy first, because it says what the caller may do. */
function ScreenOf({ screen, live }: { readonly screen: Screen; readonly live: Live }) {
  const policy = usePolicy()
  if (screen.name === 'status') return <StatusPage host={screen.host} live={live} />
  if (policy.isPending) return <Loading />
  if (!policy.data) {
    return (
      <Page title="Not available">
        <Trouble fault={policy.error} again={() => void policy.refetch()} />
      </Page>
    )
  }
  switch (screen.name) {
    case 'plan':
      return <PlanPage policy={policy.data} />
    case 'plans':
      return <PlansPage policy={policy.data} />
    case 'one-plan':
      return <OnePlanPage key={screen.planId} planId={screen.planId} policy={policy.data} />
    case 'change':
      return <ChangePage key={screen.planId} planId={screen.planId} policy={policy.data} />
    case 'host':
      return <HostPage key={screen.host} host={screen.host} policy={policy.data} />
    case 'certificates':
      return <CertificatesPage policy={policy.data} />
    case 'activity':
      return <ActivityPage policy={policy.data} />
    case 'network':
      return <NetworkPage policy={policy.data} />
    case 'help':
      return <HelpPage policy={policy.data} />
    case 'not-found':
      return (
        <Page title="Page not found">
          <p>
            <code>{location.pathname}</code> is not an address of this page. <Link to="/">See all hosts</Link> or{' '}
            <Link to="/plan">expose a service</Link>.
          </p>
        </Page>
      )
  }
}
