import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDemo } from '../../../lab/demo.ts'
import type { Stoppable } from '../../../lab/parts.ts'
import { expectAccessible } from '../site/accessible.ts'
import { oneSite } from '../site/one-site.ts'
import { badgeOf, makePlan, SEEN_WITHIN } from '../site/steps.ts'
import { everyActByKeys } from './every-act.ts'
import { picture } from './pictures.ts'

const site = oneSite()

const STATES = {
  shop: 'RUNNING',
  chat: 'DOWN',
  files: 'CERT',
  api: 'HTTP 502',
  billing: 'HTTP 503',
  wiki: 'HTTP 404',
  docs: 'NO DNS',
  grafana: 'DRIFT',
}

test('an empty status screen offers the first plan', async () => {
  const page = await site().open('/')
  await page.getByRole('button', { name: 'Plan the first exposure' }).click()
  await page.getByRole('heading', { name: 'Plan an exposure' }).waitFor()
})

describe('the demonstration', () => {
  let demo: Stoppable | undefined
  beforeAll(async () => {
    demo = await startDemo(site().lab.description)
  }, 240_000)
  afterAll(() => demo?.stop())

  test('shows ten exposures in every state, each with what mends it', { timeout: 240_000 }, async () => {
    const { lab, open } = site()
    const page = await open('/')
    for (const [name, badge] of Object.entries(STATES)) {
      // DNS, files and certificates are looked at less often than the host itself.
      await badgeOf(page, `${name}.lab.test`, badge).waitFor({ timeout: 100_000 })
    }
    expect(await page.getByRole('table', { name: 'Hosts' }).getAttribute('aria-rowcount')).toBe('11')
    await page.getByText(/^\d of 10 hosts need attention$/).waitFor()
    await page.getByRole('row').filter({ hasText: 'legacy.lab.test' }).getByText('Blocked', { exact: true }).waitFor()
    await expectAccessible(page)
    await page.goto(`${lab.description.inside}/hosts/legacy.lab.test`)
    await page.getByText(/^drawbridge resolve plan_\w+ --config \/\S+\.yaml$/).waitFor(SEEN_WITHIN)
    await expectAccessible(page)
    await page.goto(`${lab.description.inside}/hosts/preview.lab.test`)
    await page.getByRole('button', { name: 'Extend…' }).waitFor(SEEN_WITHIN)
    if (process.env.PICTURES) await allPictures(page, lab.description.inside)
  })

  test.skipIf(process.env.PICTURES)('lets every act be done by keys alone', { timeout: 300_000 }, async () => {
    const { lab, open } = site()
    await everyActByKeys(await open('/'), lab)
  })
})

/** Every screen, as the documents show it: `npm run pictures`. */
async function allPictures(page: Page, origin: string): Promise<void> {
  const screens: Record<string, string> = {
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
  for (const [name, path] of Object.entries(screens)) {
    await page.goto(`${origin}${path}`)
    await page.getByRole('heading').first().waitFor()
    await page.waitForLoadState('load')
    await page.waitForTimeout(1_500)
    await picture(page, name)
  }
  await page.goto(`${origin}/plan`)
  await page.getByLabel('Subdomain').fill('no_good')
  await page.getByLabel('Port').fill('8045')
  await page.getByLabel('Health path').focus()
  await picture(page, 'form')
  await page.goto(`${origin}/plan`)
  await makePlan(page, { subdomain: 'hello', port: 3000 })
  await picture(page, 'plan')
}
