import type { Page } from 'playwright-core'
import { CANNED_PLAN, cannedRow } from '../../support/http/canned-page.ts'
import { expectAccessible } from '../site/accessible.ts'
import { focused, tabTo } from '../site/keys.ts'
import { test } from '../site/page-test.ts'
import { badgeOf, goTo, rowOf } from '../site/steps.ts'

const PLAN = 'plan_01hzy5b6wq8r7n2v4k3m9d5c1f'
const name = (host: string) => `${host}.lab.test`
const soon = () => new Date(Date.now() + 57 * 60_000).toISOString()

const rows = () => [
  cannedRow(name('api'), { badge: 'HTTP 502', planId: PLAN }),
  cannedRow(name('docs'), { badge: 'DRIFT', planId: PLAN }),
  cannedRow(name('preview'), { planId: PLAN, expiresAt: soon() }),
  cannedRow(name('shop'), { planId: PLAN }),
]

const hostsIn = (page: Page) =>
  page.getByRole('row').evaluateAll((all) => all.flatMap((row) => row.querySelector('[title]')?.textContent ?? []))

/** What can be done in the list, and from everywhere by name. */
export function acts(): void {
  test('each part of the sentence above the list is a filter, and the palette goes everywhere by name', async ({
    canned,
    expect,
    open,
  }) => {
    canned.hosts = rows()
    const page = await open('/', canned.origin)
    await page.getByRole('button', { name: '1 differs' }).click()
    await expect.poll(() => hostsIn(page)).toEqual([name('docs')])
    expect(new URL(page.url()).search).toBe('?need=differs')
    await page.getByRole('button', { name: '1 down' }).click()
    await expect.poll(() => hostsIn(page)).toEqual([name('api'), name('docs')])
    await page.getByRole('button', { name: '1 differs' }).click()
    await page.getByRole('button', { name: '1 down' }).click()
    await page.getByRole('button', { name: /^1 ends in 5[67] min$/ }).click()
    await expect.poll(() => hostsIn(page)).toEqual([name('preview')])
    expect(await page.title()).toBe('(1) Status · Drawbridge')
    // A link to the whole list leaves the filter, and Back has it again.
    await page.getByRole('link', { name: 'Drawbridge, all hosts' }).click()
    await expect.poll(async () => (await hostsIn(page)).length).toBe(4)
    expect(new URL(page.url()).search).toBe('')
    await page.goBack()
    await expect.poll(() => hostsIn(page)).toEqual([name('preview')])
    await page.getByRole('link', { name: 'Expose a service' }).click()
    await page.getByRole('heading', { name: 'Expose a service' }).waitFor()

    // The palette goes to hosts, screens and acts by name, and ? shows the keys.
    await goTo(page, '/')
    await badgeOf(page, name('api'), 'HTTP 502').waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Ctrl K').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+K')
    const found = page.getByRole('option')
    await page.getByRole('option', { name: 'Network' }).waitFor()
    await expectAccessible(page)
    await page.keyboard.type('api')
    await expect.poll(() => found.allInnerTexts()).toContainEqual(expect.stringMatching(/^Diagnose api/))
    await page.keyboard.type(' mute')
    await expect.poll(() => found.count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: `Mute ${name('api')}?` }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/hosts/${name('api')}/details`)
    expect(new URL(page.url()).search).toBe('')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+K')
    await page.keyboard.type('certif')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Certificates' }).waitFor()
    await goTo(page, '/activity?kind=event')
    const kind = page.getByLabel('Show')
    await expect.poll(() => kind.inputValue()).toBe('event')
    await page.getByRole('link', { name: 'Activity', exact: true }).click()
    await expect.poll(() => kind.inputValue()).toBe('')
  })

  test('a change that is over is planned again in its own form, and an adoption by its command', async ({
    canned,
    expect,
    open,
  }) => {
    const { host, planId, request } = CANNED_PLAN
    canned.caller = { network: 'internal', may: ['read', 'plan', 'apply', 'adopt'] }
    canned.hosts = [cannedRow(host, { planId })]
    canned.plan = { ...CANNED_PLAN, state: 'expired', request: { ...request, port: 4321, replaces: planId } }
    const page = await open(`/plans/${planId}`, canned.origin)
    const again = page.getByRole('button', { name: 'Plan again' })
    await again.waitFor()
    canned.plan = { ...CANNED_PLAN, state: 'applied' }
    await again.click()
    await page.getByRole('heading', { name: `Change ${host}` }).waitFor()
    expect(await page.getByLabel('Port', { exact: true }).inputValue()).toBe('4321')

    canned.hosts = [cannedRow(host, { managed: false, planId: undefined })]
    const adopt = { site: `sha256:${'a'.repeat(64)}`, text: `sha256:${'b'.repeat(64)}` }
    canned.plan = { ...CANNED_PLAN, state: 'expired', request: { ...request, adopt } }
    await page.goto(`${canned.origin}/plans/${planId}`)
    await again.click()
    await page.getByText(`drawbridge adopt ${host}`).waitFor()
  })

  test('a row is diagnosed, changed, opened, muted and selected by the pointer and by keys', async ({
    canned,
    expect,
    open,
  }) => {
    canned.hosts = rows()
    const page = await open('/', canned.origin)
    await badgeOf(page, name('api'), 'HTTP 502').waitFor()
    const change = rowOf(page, name('shop')).getByRole('link', { name: `Change ${name('shop')}` })
    const opacity = () => change.evaluate((link) => link.parentElement && getComputedStyle(link.parentElement).opacity)
    expect(await opacity()).toBe('0')
    await rowOf(page, name('shop')).hover()
    expect(await opacity()).toBe('1')

    await page.keyboard.press('/')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe(`HTTP 502, diagnose ${name('api')}`)
    await page.keyboard.press('m')
    await page.getByRole('dialog', { name: `Mute ${name('api')}?` }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe(`HTTP 502, diagnose ${name('api')}`)
    for (const act of ['Diagnose', 'Change', 'Mute', 'Open']) await tabTo(page, `${act} ${name('api')}`)
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe(`DRIFT, diagnose ${name('docs')}`)

    // x selects, and the bar acts on all that are selected.
    await page.keyboard.press('x')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe(`RUNNING, diagnose ${name('preview')}`)
    await page.keyboard.press('x')
    const bar = page.getByRole('region', { name: 'Selected exposures' })
    await bar.getByText('2 selected').waitFor()
    await bar.getByRole('button', { name: 'Extend 1…' }).waitFor()
    await bar.getByRole('button', { name: 'Remove 2…' }).waitFor()
    await bar.getByRole('button', { name: 'Clear' }).click()
    await bar.waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('c')
    await page.waitForURL(`**/plans/${PLAN}/change`)
  })

  test('the first visit says what Drawbridge is; a filter offers no removal, and a public caller can select nothing', async ({
    canned,
    expect,
    open,
  }) => {
    canned.hosts = rows()
    const page = await open('/?search=shop', canned.origin)
    const welcome = page.getByRole('complementary', { name: 'Welcome' })
    expect(await welcome.innerText()).toMatch(/together or not at all.*DRIFT means.*internal: you may plan, apply/s)
    await welcome.getByRole('button', { name: 'Got it' }).click()
    await welcome.waitFor({ state: 'detached' })
    await rowOf(page, name('shop')).waitFor()
    expect(await page.getByRole('button', { name: /^(remove|extend) \d/i }).count()).toBe(0)
    expect(await page.getByRole('checkbox', { name: /^Select / }).count()).toBe(1)
    canned.caller = { network: 'public', may: ['read', 'plan'] }
    await page.reload()
    await rowOf(page, name('shop')).waitFor()
    await page.getByText('Public', { exact: true }).waitFor()
    expect(await welcome.count()).toBe(0)
    expect(await page.getByRole('checkbox', { name: /^Select / }).count()).toBe(0)
    expect(await page.getByRole('link', { name: /^Change / }).count()).toBe(0)
  })

  test('on a telephone the header is one row, nothing is cut for a badge, and the page scrolls as one', async ({
    canned,
    expect,
    open,
  }) => {
    const notAfter = new Date(Date.now() + 89.5 * 86_400_000).toISOString()
    const certificate = { notAfter, level: 'ok' as const }
    const long = name('a-rather-long-name')
    canned.hosts = [
      cannedRow(long, { badge: 'HTTP 502', planId: PLAN, blocked: true, certificate, expiresAt: soon() }),
      ...Array.from({ length: 40 }, (_, at) => cannedRow(name(`h${at}`), { planId: PLAN })),
    ]
    const page = await open('/', canned.origin, { viewport: { width: 390, height: 800 } })
    const row = rowOf(page, long)
    await row.getByText('Blocked', { exact: true }).waitFor()
    const isCut = (text: string | RegExp) => row.getByText(text).evaluate((cell) => cell.scrollWidth > cell.clientWidth)
    expect(await isCut(long)).toBe(false)
    expect((await row.innerText()).replace(/\s+/g, ' ')).toMatch(/Cert\. 90 d Removes itself in 5[67] min/)
    await page.mouse.wheel(0, 2_000)
    await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(500)
    await rowOf(page, name('h30')).waitFor()
    await page.setViewportSize({ width: 320, height: 700 })
    const header = await page.getByRole('banner').first().boundingBox()
    expect(header?.height).toBeLessThanOrEqual(57)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Certificates' }).click()
    await page.getByRole('heading', { name: 'Certificates' }).waitFor()
    expect(await page.getByRole('link', { name: 'Activity' }).isVisible()).toBe(false)
  })
}
