import { type ReactNode, useEffect } from 'react'
import styles from './Page.module.css'

interface PageProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly children: ReactNode
}

/** A screen that scrolls as a whole. */
export function Page({ title, lead, children }: PageProps) {
  useTitle(title)
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{title}</h1>
        {lead && <p className={styles.lead}>{lead}</p>}
      </header>
      {children}
    </div>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Drawbridge`
  }, [title])
}
