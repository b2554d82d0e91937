import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { addOwnHosts } from '../../support/edge/foreign-hosts.ts'
import { applied, removed } from '../../support/lab/exposure.ts'
import type { PageSite } from '../../support/programs/browser.ts'
import { until } from '../../support/until.ts'
import { rowOf, SEEN_WITHIN } from '../site/steps.ts'

const MANY = 1_000
/** Ten thousand rows of this size are 6 MB. */
const MOST_BYTES_PER_ROW = 600
const WATCHED_MS = 11_000

/** Many hosts. `npm run bench -- reads` measures ten thousand. */
export function crowd(site: () => PageSite): void {
  test('a thousand hosts are drawn in parts, searched, filtered and scrolled', async () => {
    const { lab, open } = site()
    await addOwnHosts(lab, (edge) =>
      Array.from(
        { length: MANY },
        (_, at) => `server { listen ${edge}:8080; server_name h${at}.lab.test; return 204; }`,
      ).join('\n'),
    )
    await until(
      'all hosts are known',
      async () => (await lab.call({ path: '/api/hosts?limit=1' })).body.total >= MANY,
      30_000,
    )
    const page = await open('/')
    const table = page.getByRole('table', { name: 'Hosts' })
    await page.getByRole('button', { name: /^All 1,0\d\d$/ }).waitFor()
    await expect.poll(() => table.getAttribute('aria-rowcount').then(Number)).toBeGreaterThan(MANY)
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    await page.getByRole('searchbox').fill('h99')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('12')
    await page.getByRole('searchbox').fill('h9')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('112')
    await page.getByRole('columnheader', { name: 'Host' }).getByRole('button').click()
    await page.getByRole('searchbox').press('ArrowDown')
    await page.keyboard.press('End')
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toMatch(/h999\.lab\.test$/)
    await expect.poll(() => new URL(page.url()).search).toBe('?search=h9&sort=host')
    // At rest the page receives at most 2 kB per minute.
    await page.getByText(/^Updated \d+ s ago$/).waitFor()
    // It is at rest when every host was checked. On a busy machine some windows see real changes of latency.
    await expect
      .poll(() => receivedIn(page, WATCHED_MS), { timeout: 100_000, interval: 0 })
      .toBeLessThan((2_000 * WATCHED_MS) / 60_000)
    await expectEachRowOnce(page)
  })

  test('several filters at once stand in the address, and Back undoes them one by one', async () => {
    const { lab, open } = site()
    const { planId } = await applied(lab, { subdomain: 'sifted' })
    const page = await open('/')
    const table = page.getByRole('table', { name: 'Hosts' })
    const rows = () => table.getAttribute('aria-rowcount').then(Number)
    await page.getByRole('searchbox').fill('sifted')
    await rowOf(page, 'sifted.lab.test').waitFor(SEEN_WITHIN)
    await page.getByRole('searchbox').fill('')
    await page.getByText(/need attention|hosts are well/).waitFor()
    await page.getByText('Managed: all').click()
    await page.getByRole('checkbox', { name: 'managed', exact: true }).check()
    await expect.poll(rows).toBe(2)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^RUNNING/ }).click()
    expect(new URL(page.url()).search).toBe('?badge=RUNNING&managed=managed')
    await page.reload()
    await expect.poll(rows).toBe(2)
    await page.goBack()
    expect(new URL(page.url()).search).toBe('?managed=managed')
    await page.goBack()
    await expect.poll(rows).toBeGreaterThan(MANY)
    await page.getByRole('searchbox').fill('sifted')
    expect(await page.getByRole('link', { name: 'Open sifted.lab.test' }).getAttribute('href')).toMatch(
      /^http:\/\/sifted\.lab\.test:\d+\/$/,
    )
    await removed(lab, planId)
  })
}

/** Loads the page again. At rest, when no host changes its place in the list, no row is sent twice. */
async function expectEachRowOnce(page: Page): Promise<void> {
  await page.reload()
  await expect.poll(() => page.getByRole('table', { name: 'Hosts' }).getAttribute('aria-rowcount')).toBe('112')
  const pages = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.includes('/api/hosts?'))
      .map((entry) => (entry as PerformanceResourceTiming).encodedBodySize),
  )
  // A short page first, then the largest pages.
  expect(pages).toHaveLength(3)
  expect(pages.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(1_010 * MOST_BYTES_PER_ROW)
}

/** The bytes that a page receives in this time, headers excluded. */
async function receivedIn(page: Page, ms: number): Promise<number> {
  const network = await page.context().newCDPSession(page)
  let bytes = 0
  network.on('Network.dataReceived', ({ dataLength }) => {
    bytes += dataLength
  })
  await network.send('Network.enable')
  await sleep(ms)
  return bytes
}
