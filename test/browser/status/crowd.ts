import type { Page } from 'playwright-core'
import { type CannedPage, cannedRow } from '../../support/http/canned-page.ts'
import { test } from '../site/page-test.ts'
import { rowOf } from '../site/steps.ts'

const MANY = 5_000
/** How often the service says on its stream that it is alive. */
const ALIVE_MS = 10_000

const crowdOf = (count: number) =>
  Array.from({ length: count }, (_, at) => cannedRow(`h${at}.lab.test`, { managed: false, tls: false }))

const rowsOf = (page: Page) =>
  page
    .getByRole('table', { name: 'Hosts' })
    .getAttribute('aria-rowcount')
    .then((count) => Number(count) - 1)

/** Lists of hosts that a test chooses. `npm run bench -- reads` measures ten thousand on a real service. */
export function crowd(): void {
  test('an empty status screen offers the first plan', async ({ canned, open }) => {
    const page = await open('/', canned.origin)
    await page.getByRole('button', { name: 'Plan the first exposure' }).click()
    await page.getByRole('heading', { name: 'Expose a service' }).waitFor()
  })

  test('thousands of hosts are each loaded once, drawn in parts, searched and scrolled', async ({
    canned,
    expect,
    open,
  }) => {
    canned.hosts = crowdOf(MANY)
    const page = await open('/', canned.origin)
    await page.getByRole('button', { name: /^All 5,000$/ }).waitFor()
    await expect.poll(() => rowsOf(page)).toBe(MANY)
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    // A short page first, then the largest pages from both ends, none of them twice.
    const asked = canned.requests.filter((request) => request.startsWith('GET /api/hosts?'))
    expect(asked[0]).toContain('limit=100')
    expect(asked.slice(1).every((request) => request.includes('limit=500'))).toBe(true)
    expect(asked).toHaveLength(1 + MANY / 500)
    expect(new Set(asked).size).toBe(asked.length)

    await page.getByRole('searchbox').fill('h499')
    await expect.poll(() => rowsOf(page)).toBe(11)
    await page.getByRole('searchbox').fill('h49')
    await expect.poll(() => rowsOf(page)).toBe(111)
    await page.getByRole('columnheader', { name: 'Host' }).getByRole('button').click()
    await page.getByRole('searchbox').press('ArrowDown')
    await page.keyboard.press('End')
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toMatch(/h4999\.lab\.test$/)
    await expect.poll(() => new URL(page.url()).search).toBe('?search=h49&sort=host')
  })

  test('a page at rest asks for nothing', async ({ canned, expect, open }) => {
    canned.hosts = crowdOf(3)
    const page = await open('/help', canned.origin)
    await page.clock.install()
    await page.goto(`${canned.origin}/`)
    await page.getByText(/^Updated /).waitFor()
    await expect.poll(() => rowsOf(page)).toBe(3)
    const asked = canned.requests.length
    for (let passed = 0; passed < 60_000; passed += ALIVE_MS) await passTime(page, canned)
    expect(canned.requests.slice(asked)).toEqual([])
  })

  test('several filters at once stand in the address, and Back undoes them one by one', async ({
    canned,
    expect,
    open,
  }) => {
    canned.hosts = [...crowdOf(30), cannedRow('sifted.lab.test')]
    const page = await open('/', canned.origin)
    await page.getByText(/hosts are well/).waitFor()
    await page.getByText('Managed: all').click()
    await page.getByRole('checkbox', { name: 'managed', exact: true }).check()
    await expect.poll(() => rowsOf(page)).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^RUNNING/ }).click()
    expect(new URL(page.url()).search).toBe('?badge=RUNNING&managed=managed')
    await page.reload()
    await expect.poll(() => rowsOf(page)).toBe(1)
    await page.goBack()
    expect(new URL(page.url()).search).toBe('?managed=managed')
    await page.goBack()
    await expect.poll(() => rowsOf(page)).toBe(31)
    await page.getByRole('searchbox').fill('sifted')
    await rowOf(page, 'sifted.lab.test').waitFor()
    expect(await page.getByRole('link', { name: 'Open sifted.lab.test' }).getAttribute('href')).toBe(
      'http://sifted.lab.test:8080/',
    )
  })

  test('title and icon tell the number of red hosts, and a muted one does not count', async ({
    canned,
    expect,
    open,
  }) => {
    const host = 'alarming.lab.test'
    canned.hosts = [cannedRow(host), cannedRow('calm.lab.test')]
    const page = await open('/', canned.origin)
    await page.getByText('All 2 hosts are well').waitFor()
    expect(await page.title()).toBe('Status · Drawbridge')
    canned.tell('row', cannedRow(host, { badge: 'HTTP 502' }))
    await expect.poll(() => page.title()).toBe('(1) Status · Drawbridge')
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg/)
    await page.getByRole('link', { name: 'Help' }).click()
    await expect.poll(() => page.title()).toMatch(/^\(1\) How it works/)
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const muted = { since: null, until, by: '192.168.45.10', note: 'moves' }
    canned.tell('row', cannedRow(host, { badge: 'HTTP 502', muted }))
    await expect.poll(() => page.title()).toMatch(/^How it works/)
    await page.getByRole('link', { name: 'Status', exact: true }).click()
    await page.getByRole('button', { name: '1 muted' }).waitFor()
    await rowOf(page, host).getByText('Muted', { exact: true }).waitFor()
  })
}

/** Lets as much time pass on the page as lies between two signs of life of the service. */
async function passTime(page: Page, canned: CannedPage): Promise<void> {
  canned.tell('alive', { at: new Date().toISOString() })
  await page.getByText(/^Updated [0-5] s ago$/).waitFor()
  await page.clock.runFor(ALIVE_MS)
}
