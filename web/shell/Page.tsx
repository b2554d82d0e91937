import { type ReactNode, useEffect } from 'react'
import styles from './Page.module.css'

interface PageProps {
  readonly title: string
  readonly lead?: ReactNode
  /** What can be done with what the title names. */
  readonly acts?: ReactNode
  readonly children: ReactNode
}

/** A screen that scrolls as a whole. */
export function Page({ title, lead, acts, children }: PageProps) {
  useTitle(title)
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{title}</h1>
        {acts && <div className={styles.acts}>{acts}</div>}
        {lead && <div className={styles.lead}>{lead}</div>}
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
