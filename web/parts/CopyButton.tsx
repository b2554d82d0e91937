import { useEffect, useState } from 'react'
import { Button } from './Button.tsx'
import { copyText } from './copy.ts'
import type { IconName } from './icons.tsx'

interface CopyButtonProps {
  readonly text: string
  /** The name of the copied thing, for screen readers. */
  readonly what: string
  /** The text on the button. */
  readonly children?: string
  readonly icon?: IconName
}

const SHOWN_MS = 1_600

export function CopyButton({ text, what, children, icon = 'copy' }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | undefined>()
  useEffect(() => {
    if (!outcome) return
    const timer = window.setTimeout(() => setOutcome(undefined), SHOWN_MS)
    return () => window.clearTimeout(timer)
  }, [outcome])
  const copy = async () => setOutcome((await copyText(text)) ? 'copied' : 'failed')
  const shown = outcome === 'copied' ? 'check' : outcome === 'failed' ? 'cross' : icon
  const label = children ?? `Copy ${what}`
  return (
    <>
      <Button
        look={children ? 'plain' : 'quiet'}
        icon={shown}
        onClick={copy}
        {...(!children && { 'aria-label': label, title: label })}
      >
        {children}
      </Button>
      <span role="status" className="off-screen">
        {outcome === 'copied' && `Copied ${what}`}
        {outcome === 'failed' && `${what} could not be copied: select it by hand`}
      </span>
    </>
  )
}
