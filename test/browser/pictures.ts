import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'

/** Pictures for the documents are made on purpose, not by every run: `PICTURES=1 npx vitest run test/browser`. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!process.env.PICTURES) return
  mkdirSync('docs/images', { recursive: true })
  await page.screenshot({ path: `docs/images/${name}.png` })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.screenshot({ path: `docs/images/${name}-dark.png` })
  await page.emulateMedia({ colorScheme: 'light' })
}
