import type { ReactNode } from 'react'
import styles from './icons.module.css'

const DRAWINGS = {
  copy: (
    <path d="M6 6V3.5A1 1 0 0 1 7 2.5h5.5a1 1 0 0 1 1 1V9a1 1 0 0 1-1 1H10M3.5 6H9a1 1 0 0 1 1 1v5.5a1 1 0 0 1-1 1H3.5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1Z" />
  ),
  check: <path d="m3 8.5 3.2 3.2L13 4.8" />,
  cross: <path d="m4 4 8 8m0-8-8 8" />,
  search: <path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.3-1.2 3.2 3.2" />,
  sun: (
    <path d="M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM8 1.5v1.2m0 10.6v1.2M1.5 8h1.2m10.6 0h1.2M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9" />
  ),
  moon: <path d="M13.3 9.6A5.6 5.6 0 0 1 6.4 2.7a5.6 5.6 0 1 0 6.9 6.9Z" />,
  screen: <path d="M2.5 3h11v7.5h-11ZM5.5 13h5M8 10.5V13" />,
  again: <path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8" />,
  print: <path d="M4.5 6V2.5h7V6m-7 5.5h-2V6.8A.8.8 0 0 1 3.3 6h9.4a.8.8 0 0 1 .8.8v4.7h-2M4.5 9.5h7v4h-7Z" />,
  link: (
    <path d="M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2a2.6 2.6 0 0 0-3.7-3.7l-.8.8m1 2.7a2.6 2.6 0 0 0-3.7 0L3.3 9a2.6 2.6 0 0 0 3.7 3.7l.8-.8" />
  ),
  out: <path d="M6.5 3.5h-3v9h9v-3M9 2.5h4.5V7m0-4.5L7.5 8.5" />,
  next: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  lock: <path d="M4 7.2h8v6H4Zm1.8 0V5.0a2.2 2.2 0 0 1 4.4 0v2.2" />,
  up: <path d="M8 12.5v-9M4.5 7 8 3.5 11.5 7" />,
  down: <path d="M8 3.5v9M4.5 9 8 12.5 11.5 9" />,
  warning: <path d="M8 2.3 14.5 13.5h-13ZM8 6.6v3.2m0 1.8v.2" />,
  plus: <path d="M8 3v10M3 8h10" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  bell: <path d="M4 11V7.2a4 4 0 0 1 6.6-3M12 6.5V11l1.2 1.5H2.8L4 11m2.6 1.8a1.5 1.5 0 0 0 2.8 0M2.5 2.5l11 11" />,
  pen: <path d="M3 13v-2.6l7.4-7.4 2.6 2.6L5.6 13ZM8.8 4.6l2.6 2.6" />,
  pulse: <path d="M1.5 8.5h3l2-5 3 9 2-4h3" />,
  dash: <path d="M4 8h8" />,
} as const satisfies Record<string, ReactNode>

export type IconName = keyof typeof DRAWINGS

/** Decorative: the caller provides the text. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className={styles.icon}>
      {DRAWINGS[name]}
    </svg>
  )
}
