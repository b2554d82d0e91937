import { useState } from 'react'
import { usePolicy } from '../api/policy.ts'
import { Button } from '../parts/Button.tsx'
import styles from './Welcome.module.css'

const KEPT_AS = 'drawbridge.welcome'

function wasRead(): boolean {
  try {
    return localStorage.getItem(KEPT_AS) !== null
  } catch {
    return true
  }
}

/** What Drawbridge does, until somebody has read it. */
export function Welcome() {
  const [isRead, setIsRead] = useState(wasRead)
  const network = usePolicy().data?.caller.network
  if (isRead || !network) return null
  const close = () => {
    setIsRead(true)
    try {
      localStorage.setItem(KEPT_AS, 'read')
    } catch {
      // Without storage, it is shown again.
    }
  }
  return (
    <aside className={styles.welcome} aria-label="Welcome">
      <p>
        Drawbridge gives a service of your network a name, a proxy entry and a certificate, together or not at all.{' '}
        <strong>DRIFT</strong> means that somebody has changed one of them by hand since.{' '}
        {network === 'internal' ? (
          <>
            Your address is <strong>internal</strong>: you may plan, apply, change and remove.
          </>
        ) : (
          <>
            Your address is <strong>public</strong>: you may look and plan, and somebody inside applies.
          </>
        )}
      </p>
      <Button look="quiet" onClick={close}>
        Got it
      </Button>
    </aside>
  )
}
