import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** Saves screenshots in light and dark to the documents. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync('docs/images', { recursive: true })
  await page.screenshot({ path: `docs/images/${name}.png` })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.screenshot({ path: `docs/images/${name}-dark.png` })
  await page.emulateMedia({ colorScheme: 'light' })
}
