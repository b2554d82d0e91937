import type { ReactNode } from 'react'
import { Icon, type IconName } from './icons.tsx'
import styles from './Notice.module.css'

export type Tone = 'good' | 'bad' | 'warning' | 'calm'

const ICONS: Record<Tone, IconName> = { good: 'check', bad: 'cross', warning: 'warning', calm: 'dash' }

interface NoticeProps {
  readonly tone: Tone
  readonly title: string
  readonly children?: ReactNode
  /** Announced by screen readers when it appears. */
  readonly live?: boolean
}

export function Notice({ tone, title, children, live = false }: NoticeProps) {
  return (
    <div className={`${styles.notice} ${styles[tone]}`} {...(live && { role: tone === 'bad' ? 'alert' : 'status' })}>
      <span className={styles.mark}>
        <Icon name={ICONS[tone]} />
      </span>
      <div className={styles.words}>
        <p className={styles.title}>{title}</p>
        {children}
      </div>
    </div>
  )
}
