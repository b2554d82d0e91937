import type { Live } from '../api/hosts.ts'
import { span, useNow } from '../parts/time.ts'
import styles from './StatusPage.module.css'

/** How old the list can be. */
export function Freshness({ live: { state, heardAt } }: { readonly live: Live }) {
  const now = useNow(1_000)
  if (heardAt === undefined) return null
  return (
    <p className={styles.fresh} data-lost={state === 'lost'}>
      Updated {span(now - heardAt)} ago
    </p>
  )
}
