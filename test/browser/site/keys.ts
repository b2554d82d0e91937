import type { Page } from 'playwright-core'

/** The accessible name of the focused element. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    if (!element) return ''
    const label =
      element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels?.[0] : null
    return (element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent ?? '').trim()
  })

const MOST_TABS = 60

export async function tabTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    if ((await focused(page)) === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${name} was not reached by ${MOST_TABS} tabs`)
}
