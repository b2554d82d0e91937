import type { ReactNode } from 'react'
import button from '../parts/Button.module.css'
import { Icon, type IconName } from '../parts/icons.tsx'
import { Link } from './Link.tsx'

interface LinkButtonProps {
  readonly to: string
  readonly look?: 'main' | 'plain'
  readonly icon?: IconName
  readonly children: ReactNode
}

/** A link to another screen that looks like a button. */
export function LinkButton({ to, look = 'plain', icon, children }: LinkButtonProps) {
  return (
    <Link to={to} className={`${button.button} ${button[look] ?? ''}`}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  )
}
