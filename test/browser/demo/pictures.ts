import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { goTo, makePlan } from '../site/steps.ts'

const FOLDER = 'docs/pictures'
const WIDE = { width: 1280, height: 800 }

const SCREENS: Readonly<Record<string, string>> = {
  status: '/',
  diagnosis: '/hosts/api.lab.test',
  blocked: '/hosts/legacy.lab.test',
  host: '/hosts/billing.lab.test/details',
  network: '/network',
  certificates: '/certificates',
  activity: '/activity',
  history: '/plans',
  help: '/help',
  'not-found': '/nowhere',
}

/** Every screen of the demonstration, as the documents show it. */
export async function allPictures(page: Page): Promise<void> {
  for (const [name, path] of Object.entries(SCREENS)) {
    await goTo(page, path)
    await page.getByRole('heading').first().waitFor()
    await picture(page, name)
  }
  await goTo(page, '/plan')
  await page.getByLabel('Subdomain').fill('no_good')
  await page.getByLabel('Port').fill('8045')
  await page.getByLabel('Health path').focus()
  await picture(page, 'form')
  await makePlan(page, { subdomain: 'hello', port: 3000 })
  await picture(page, 'plan')
}

/** Saves screenshots for the documents: light, dark, and light on a telephone. */
async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const save = (suffix: string) =>
    page.screenshot({ path: `${FOLDER}/${name}${suffix}.jpg`, type: 'jpeg', quality: 70, animations: 'disabled' })
  // A part that still loads says so.
  for (const loading of [page.getByText(/^Loading /), page.locator('[aria-busy="true"]')])
    await expect.poll(() => loading.count(), { timeout: 60_000 }).toBe(0)
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
