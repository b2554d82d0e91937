export type Theme = 'system' | 'light' | 'dark'

const THEMES: readonly Theme[] = ['system', 'light', 'dark']
const KEPT_AS = 'drawbridge.theme'

export function currentTheme(): Theme {
  const kept = document.documentElement.dataset.theme
  return THEMES.find((theme) => theme === kept) ?? 'system'
}

/** Before anything is drawn. */
export function restoreTheme(): void {
  try {
    const kept = localStorage.getItem(KEPT_AS)
    if (kept !== null) show(kept)
  } catch {
    // A browser that keeps nothing follows the system.
  }
}

export function chooseTheme(theme: Theme): void {
  show(theme)
  try {
    if (theme === 'system') localStorage.removeItem(KEPT_AS)
    else localStorage.setItem(KEPT_AS, theme)
  } catch {
    // It holds for as long as the page stands.
  }
}

function show(theme: string): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  else delete document.documentElement.dataset.theme
}
