import type { Page } from 'playwright-core'
import { type ExpectStatic, expect } from 'vitest'
import { expectAccessible } from '../site/accessible.ts'
import { focused, openDialog, pressOn, tabTo } from '../site/keys.ts'
import { test } from '../site/page-test.ts'
import { badgeOf, TALL } from '../site/steps.ts'

const STATES = {
  chat: 'DOWN',
  files: 'CERT',
  api: 'HTTP 502',
  billing: 'HTTP 503',
  wiki: 'HTTP 404',
  docs: 'NO DNS',
  grafana: 'DRIFT',
  shop: 'RUNNING',
  preview: 'RUNNING',
}

/** Waits until the list shows the demonstration in every state. */
export async function everyState(page: Page): Promise<void> {
  for (const [name, badge] of Object.entries(STATES)) await badgeOf(page, `${name}.lab.test`, badge).waitFor()
}

/** The ten exposures of `npm start -- --demo`. Nothing here uses a mouse. */
export function demonstration(): void {
  test('the demonstration shows every state, and what mends it is done by keys', async ({ demo: _demo, lab, open }) => {
    const page = await open('/', 'inside', TALL)
    const visit = (path: string) => page.goto(`${lab.description.inside}${path}`)
    await everyState(page)
    await page.getByRole('button', { name: /^\d+ down$/ }).waitFor()
    await page.getByRole('row').filter({ hasText: 'legacy.lab.test' }).getByText('Blocked', { exact: true }).waitFor()
    await expectAccessible(page)

    await visit('/hosts/preview.lab.test')
    await page.getByRole('button', { name: 'Extend…' }).waitFor()

    await visit('/hosts/legacy.lab.test')
    await page.getByText(/^drawbridge resolve plan_\w+ --config \/\S+\.yaml$/).waitFor()
    await expectAccessible(page)
    await pressOn(page, 'Copy the command that finishes')
    await page.getByText('Copied the command that finishes').waitFor()

    for (const [name, act] of [
      ['docs', 'Repair'],
      ['files', 'Overwrite and repair'],
      ['grafana', 'Overwrite and repair'],
    ] as const) {
      const host = `${name}.lab.test`
      await visit(`/hosts/${host}`)
      await page.getByRole('button', { name: act, exact: true }).waitFor()
      await openDialog(page, act, `${act} ${host}?`)
      await pressOn(page, act)
      await page.getByText(`${host} was repaired`).waitFor()
      // The run takes the place of the button, and the focus goes there.
      expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true)
    }
  })

  test('lists and filters of the demonstration by keys', async ({ demo: _demo, expect, lab, open }) => {
    const page = await open('/certificates', 'inside', TALL)
    const visit = (path: string) => page.goto(`${lab.description.inside}${path}`)
    await page.getByRole('link', { name: 'shop.lab.test' }).waitFor()
    await tabTo(page, 'shop.lab.test')
    await pressOn(page, 'Renew…')
    await page.getByRole('button', { name: 'Renew certificate' }).waitFor()
    await pressOn(page, 'Renew certificate')
    await page.getByRole('dialog', { name: /^Renew the certificate of / }).waitFor()
    await pressOn(page, 'Renew certificate')
    await page.getByText('shop.lab.test has a new certificate').waitFor()

    await visit('/network')
    await page.getByRole('list', { name: 'Names on server 25', exact: true }).waitFor()
    await pressOn(page, 'shop.lab.test')
    await page.waitForURL('**/hosts/shop.lab.test/details')

    await visit('/activity')
    await page.getByRole('list', { name: 'Activity' }).getByRole('listitem').first().waitFor()
    await tabTo(page, 'Show')
    await page.keyboard.press('ArrowDown')
    await page.waitForURL('**/activity?kind=action')
    await tabTo(page, 'Outcome')
    await page.keyboard.press('ArrowDown')
    await page.waitForURL('**/activity?kind=action&outcome=ok')
    await page.reload()
    expect(await page.getByLabel('Outcome').inputValue()).toBe('ok')
    await page.goBack()
    await expect.poll(() => page.getByLabel('Outcome').inputValue()).toBe('')
    expect(new URL(page.url()).search).toBe('?kind=action')

    await visit('/')
    await badgeOf(page, 'wiki.lab.test', 'HTTP 404').waitFor()
    await filterByKeys(page, expect)
  })
}

async function filterByKeys(page: Page, expect: ExpectStatic): Promise<void> {
  await pressOn(page, 'Server: all')
  await pressOn(page, '253', 'Space')
  await page.waitForURL('**/?server=253')
  await page.keyboard.press('Escape')
  expect(await focused(page)).toBe('Server: 253')
  await pressOn(page, /^HTTP 404/)
  await page.waitForURL('**/?badge=HTTP+404&server=253')
  await expect.poll(() => page.getByRole('table', { name: 'Hosts' }).getAttribute('aria-rowcount')).toBe('2')
  await pressOn(page, 'Host')
  await page.waitForURL('**/?badge=HTTP+404&server=253&sort=host')
}
