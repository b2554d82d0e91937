import type { ButtonHTMLAttributes } from 'react'
import styles from './Button.module.css'
import { Icon, type IconName } from './icons.tsx'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: 'plain' | 'main' | 'danger' | 'quiet'
  readonly icon?: IconName
  readonly busy?: boolean
}

/** A busy button keeps its place and focus and ignores clicks. */
export function Button({ look = 'plain', icon, busy = false, children, onClick, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={[styles.button, styles[look], children === undefined ? styles.square : '', className].join(' ')}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {busy ? <span className={styles.spinner} aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  )
}
