import { useEffect, useRef, useState } from 'react'
import type { LiveState } from '../api/live.ts'
import { inFull } from '../parts/time.ts'
import styles from './Connection.module.css'

const SHOWN_MS = 3_000

/** Reports a lost and a restored connection. Shows nothing while the connection works. */
interface ConnectionProps {
  readonly live: LiveState
  /** When the service was last heard. */
  readonly heardAt: number | undefined
}

export function Connection({ live, heardAt }: ConnectionProps) {
  const [lostAt, setLostAt] = useState<string | undefined>()
  const [isBack, setIsBack] = useState(false)
  const wasLost = useRef(false)
  useEffect(() => {
    if (live === 'lost') {
      wasLost.current = true
      setIsBack(false)
      setLostAt((since) => since ?? new Date(heardAt ?? Date.now()).toISOString())
    }
    if (live !== 'live' || !wasLost.current) return
    wasLost.current = false
    setLostAt(undefined)
    setIsBack(true)
    const timer = window.setTimeout(() => setIsBack(false), SHOWN_MS)
    return () => window.clearTimeout(timer)
  }, [live])
  return (
    <div role="status" className={styles.place}>
      {lostAt && (
        <p className={styles.lost}>
          <strong>Connection lost.</strong> This page shows the state of {inFull(lostAt)}. Retrying automatically.
        </p>
      )}
      {isBack && (
        <p className={styles.back}>
          <strong>Connected again.</strong> Everything is up to date.
        </p>
      )}
    </div>
  )
}
