import styles from './Badge.module.css'
import { type BadgeKind, badgeKind } from './badge-kind.ts'

export function Badge({ badge }: { readonly badge: string }) {
  const kind = badgeKind(badge)
  return (
    <span className={`${styles.badge} ${styles[kind]}`}>
      <BadgeShape kind={kind} />
      {badge}
    </span>
  )
}

const SHAPES: Record<BadgeKind, React.ReactNode> = {
  running: (
    <>
      <circle cx="6" cy="6" r="5.5" fill="currentColor" />
      <path d="M3.4 6.2 5.3 8l3.4-3.9" className={styles.carved} />
    </>
  ),
  failing: (
    <>
      <path d="M6 .6 11.7 11H.3Z" fill="currentColor" />
      <path d="M6 4.2v3.2M6 9v.4" className={styles.carved} />
    </>
  ),
  down: (
    <>
      <path d="M3.6.5h4.8l3.1 3.1v4.8l-3.1 3.1H3.6L.5 8.4V3.6Z" fill="currentColor" />
      <path d="m4 4 4 4m0-4L4 8" className={styles.carved} />
    </>
  ),
  http: <path d="M6 .4 11.6 6 6 11.6.4 6Z" fill="currentColor" />,
  dns: (
    <>
      <circle cx="6" cy="6" r="4.8" className={styles.drawn} />
      <path d="m2.8 9.2 6.4-6.4" className={styles.drawn} />
    </>
  ),
  cert: (
    <>
      <path d="M6 .5 11 2v4.2c0 2.6-2 4.4-5 5.3-3-.9-5-2.7-5-5.3V2Z" fill="currentColor" />
      <path d="M6 3.4v3M6 8.2v.4" className={styles.carved} />
    </>
  ),
  drift: (
    <>
      <rect x="1" y="1" width="6.5" height="6.5" rx="1" className={styles.drawn} />
      <rect x="4.5" y="4.5" width="6.5" height="6.5" rx="1" fill="currentColor" />
    </>
  ),
  pending: <circle cx="6" cy="6" r="4.8" strokeDasharray="2.2 1.6" className={styles.drawn} />,
}

export function BadgeShape({ kind }: { readonly kind: BadgeKind }) {
  return (
    <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" className={styles.shape}>
      {SHAPES[kind]}
    </svg>
  )
}
