export type Theme = 'system' | 'light' | 'dark'

const THEMES: readonly Theme[] = ['system', 'light', 'dark']
const KEPT_AS = 'drawbridge.theme'

export function currentTheme(): Theme {
  const kept = document.documentElement.dataset.theme
  return THEMES.find((theme) => theme === kept) ?? 'system'
}

/** Must run before the first paint. */
export function restoreTheme(): void {
  try {
    const kept = localStorage.getItem(KEPT_AS)
    if (kept !== null) show(kept)
  } catch {
    // Without storage, the theme of the system is used.
  }
}

export function chooseTheme(theme: Theme): void {
  show(theme)
  try {
    if (theme === 'system') localStorage.removeItem(KEPT_AS)
    else localStorage.setItem(KEPT_AS, theme)
  } catch {
    // Without storage, the choice is lost when the page closes.
  }
}

function show(theme: string): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  else delete document.documentElement.dataset.theme
}
