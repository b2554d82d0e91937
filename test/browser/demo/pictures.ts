import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'

const FOLDER = 'docs/pictures'
const WIDE = { width: 1280, height: 800 }

/** Saves screenshots for the documents: light, dark, and light on a telephone. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const save = (suffix: string) =>
    page.screenshot({ path: `${FOLDER}/${name}${suffix}.jpg`, type: 'jpeg', quality: 70, animations: 'disabled' })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(WIDE)
  await page.evaluate(() => window.scrollTo(0, 0))
  await save('')
  await page.emulateMedia({ colorScheme: 'dark' })
  await save('-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 390, height: 800 })
  await save('-mobile')
  await page.setViewportSize(WIDE)
}
