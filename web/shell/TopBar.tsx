import { useRef } from 'react'
import { usePolicy } from '../api/policy.ts'
import { Icon } from '../parts/icons.tsx'
import { Link } from './Link.tsx'
import type { Screen } from './location.ts'
import { placesFor } from './places.ts'
import { ThemeSwitch } from './ThemeSwitch.tsx'
import styles from './TopBar.module.css'

interface TopBarProps {
  readonly screen: Screen['name']
  readonly onSearch: () => void
}

/** One row on every screen. Where the places do not fit, they are in a menu. */
export function TopBar({ screen, onSearch }: TopBarProps) {
  const network = usePolicy().data?.caller.network
  const menu = useRef<HTMLElement>(null)
  const close = () => {
    if (menu.current?.matches(':popover-open')) menu.current.hidePopover()
  }
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.brand} aria-label="Drawbridge, all hosts">
        <Mark />
        <span className={styles.name}>Drawbridge</span>
      </Link>
      <button type="button" className={styles.menu} popoverTarget="places" aria-label="Menu">
        <Icon name="menu" />
      </button>
      <nav ref={menu} id="places" popover="auto" aria-label="Main" className={styles.places}>
        {placesFor(network).map(({ to, words, screens }) => (
          <Link
            key={to}
            to={to}
            className={styles.place}
            aria-current={screens.includes(screen) ? 'page' : undefined}
            onClick={close}
          >
            {words}
          </Link>
        ))}
      </nav>
      <button
        type="button"
        className={styles.search}
        onClick={onSearch}
        aria-label="Go to…"
        aria-keyshortcuts="Control+K"
      >
        <Icon name="search" />
        <span className={styles.searchWords}>Go to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      {network && <Network network={network} />}
      <ThemeSwitch />
    </header>
  )
}

/** The network of the caller, which decides what the caller may do. */
function Network({ network }: { readonly network: 'internal' | 'public' }) {
  const isInside = network === 'internal'
  const permits = isInside
    ? 'Your address is in the internal network: you may plan, apply, change and remove.'
    : 'Your address is outside the internal network: you may look and plan.'
  return (
    <Link to="/help" className={styles.network} data-network={network} title={permits}>
      <svg viewBox="0 0 12 12" aria-hidden="true" className={styles.networkMark}>
        {isInside ? <path d="M1 5.5 6 1.5l5 4V11H1Z" /> : <circle cx="6" cy="6" r="4.5" />}
      </svg>
      <span className={styles.networkWords}>{isInside ? 'Internal' : 'Public'}</span>
    </Link>
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
