import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import type { IconName } from '../parts/icons.tsx'
import { chooseTheme, currentTheme, type Theme } from './theme.ts'

const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }
const ICONS: Record<Theme, IconName> = { system: 'screen', light: 'sun', dark: 'moon' }
const WORDS: Record<Theme, string> = { system: 'as the system', light: 'light', dark: 'dark' }

export function ThemeSwitch() {
  const [theme, setTheme] = useState(currentTheme)
  const turn = () => {
    chooseTheme(NEXT[theme])
    setTheme(NEXT[theme])
  }
  const label = `Colours: ${WORDS[theme]}. Change to ${WORDS[NEXT[theme]]}`
  return <Button look="quiet" icon={ICONS[theme]} onClick={turn} aria-label={label} title={label} />
}
