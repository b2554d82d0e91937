import { expect, test } from 'vitest'
import { applied, removed } from '../../support/lab/exposure.ts'
import type { PageSite } from '../../support/programs/browser.ts'
import { badgeOf, rowOf, SEEN_WITHIN } from '../site/steps.ts'

/** The page reports a lost connection and reconnects automatically. */
export function connection(site: () => PageSite): void {
  test('a lost connection is reported, and missed changes are loaded', async () => {
    const { lab, open } = site()
    const page = await open('/')
    await page.getByRole('heading', { name: 'Status' }).waitFor()
    await page.context().setOffline(true)
    await page.getByText('Connection lost.').waitFor()
    const { planId, host } = await applied(lab, { subdomain: 'missed' })
    expect(await rowOf(page, host).count()).toBe(0)
    await page.context().setOffline(false)
    await page.getByText('Connected again.').waitFor(SEEN_WITHIN)
    await badgeOf(page, host, 'RUNNING').waitFor(SEEN_WITHIN)
    await page.getByText('Connected again.').waitFor({ state: 'detached' })
    await removed(lab, planId)
    await rowOf(page, host).waitFor({ state: 'detached', ...SEEN_WITHIN })
  })

  test('the page reconnects after a restart of the service', async () => {
    const { lab, open } = site()
    const page = await open('/', 'outside')
    await page.getByRole('heading', { name: 'Status' }).waitFor()
    await lab.killService()
    await page.getByText('Connected again.').waitFor(SEEN_WITHIN)
  })
}
