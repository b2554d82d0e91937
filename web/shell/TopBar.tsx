import { usePolicy } from '../api/policy.ts'
import { Link } from './Link.tsx'
import type { Screen } from './location.ts'
import { ThemeSwitch } from './ThemeSwitch.tsx'
import styles from './TopBar.module.css'

const PLACES = [
  { to: '/', words: 'Status', screens: ['status', 'host'] },
  { to: '/network', words: 'Network', screens: ['network'] },
  { to: '/certificates', words: 'Certificates', screens: ['certificates'] },
  { to: '/plan', words: 'Plan', screens: ['plan', 'change'] },
  { to: '/plans', words: 'History', screens: ['plans', 'one-plan'], inside: true },
  { to: '/activity', words: 'Activity', screens: ['activity'], inside: true },
  { to: '/help', words: 'Help', screens: ['help'] },
] as const

export function TopBar({ screen }: { readonly screen: Screen['name'] }) {
  const network = usePolicy().data?.caller.network
  const places = PLACES.filter((place) => !('inside' in place) || network === 'internal')
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.brand} aria-label="Drawbridge, all hosts">
        <Mark />
        <span className={styles.name}>Drawbridge</span>
      </Link>
      <nav aria-label="Main" className={styles.places}>
        {places.map(({ to, words, screens }) => (
          <Link
            key={to}
            to={to}
            className={styles.place}
            aria-current={(screens as readonly string[]).includes(screen) ? 'page' : undefined}
          >
            {words}
          </Link>
        ))}
      </nav>
      {network && <Network network={network} />}
      <ThemeSwitch />
    </header>
  )
}

/** The network of the caller, which decides what the caller may do. */
function Network({ network }: { readonly network: 'internal' | 'public' }) {
  const isInside = network === 'internal'
  return (
    <span
      className={styles.network}
      data-network={network}
      title={
        isInside
          ? 'Your address is in the internal network: you may plan, apply and remove.'
          : 'Your address is outside the internal network: you may look and plan.'
      }
    >
      <svg viewBox="0 0 12 12" aria-hidden="true" className={styles.networkMark}>
        {isInside ? <path d="M1 5.5 6 1.5l5 4V11H1Z" /> : <circle cx="6" cy="6" r="4.5" />}
      </svg>
      {isInside ? 'Internal' : 'Public'}
    </span>
  )
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={styles.mark}>
      <rect width="32" height="32" rx="8" />
      <path d="M9 25V8M23 25V8M9 22 22 15M9 9l13 6M5 25h22" />
    </svg>
  )
}
