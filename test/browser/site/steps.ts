import type { Page } from 'playwright-core'

/** The actions of a user on the page. */
export interface Wanted {
  readonly subdomain: string
  readonly server?: string
  readonly port: number
  readonly health?: string
  readonly tls?: boolean
}

export async function fillPlan(
  page: Page,
  { subdomain, server = '25', port, health, tls = true }: Wanted,
): Promise<void> {
  await page.getByLabel('Subdomain').fill(subdomain)
  await page.getByRole('radio', { name: server, exact: true }).check()
  await page.getByLabel('Port').fill(String(port))
  if (health !== undefined) await page.getByLabel('Health path').fill(health)
  await page.getByRole('checkbox', { name: /HTTPS/ }).setChecked(tls)
}

export const askForPlan = (page: Page): Promise<void> => page.getByRole('button', { name: 'Check and plan' }).click()

/** Makes a plan that succeeds. Resolves with its id. */
export async function makePlan(page: Page, wanted: Wanted): Promise<string> {
  await fillPlan(page, wanted)
  await askForPlan(page)
  await page.getByText('can be exposed').waitFor()
  return page.getByText(/^plan_[0-9a-z]{26}$/).innerText()
}

export const rowOf = (page: Page, host: string) => page.getByRole('row').filter({ hasText: host })

export const badgeOf = (page: Page, host: string, badge: string) =>
  page.getByRole('link', { name: `${badge}, diagnose ${host}` })

/** Every row of the list is drawn. */
export const TALL = { viewport: { width: 1280, height: 3_000 } }

/** Goes to another screen as a link of the page does. To load the page again takes most of the time of a test. */
export const goTo = (page: Page, path: string): Promise<void> =>
  page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
