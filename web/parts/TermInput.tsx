import type { ComponentProps } from 'react'
import control from './control.module.css'

/** For names, paths and numbers: without spell check, capitalisation and autocompletion. */
export function TermInput(props: Omit<ComponentProps<'input'>, 'className'>) {
  return (
    <input
      className={`${control.control} ${control.mono}`}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
    />
  )
}
