import { useEffect, useState } from 'react'
import { isTyping } from '../parts/typing.ts'

/** What a key of the whole page has opened. */
export type Opened = 'palette' | 'keys' | undefined

/** Ctrl-K and `?` work on every screen, except while another dialog is open. */
export function useKeys(): readonly [Opened, (opened: Opened) => void] {
  const [opened, setOpened] = useState<Opened>()
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const isPalette = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey
      const areKeys = event.key === '?' && !event.ctrlKey && !event.metaKey && !isTyping(event.target)
      if ((!isPalette && !areKeys) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      setOpened(isPalette ? 'palette' : 'keys')
    }
    window.addEventListener('keydown', hear)
    return () => window.removeEventListener('keydown', hear)
  }, [])
  return [opened, setOpened]
}
