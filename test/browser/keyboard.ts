import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { applied, removed } from '../support/lab/exposure.ts'
import type { PageSite } from '../support/programs/browser.ts'
import { badgeOf, SEEN_WITHIN } from './steps.ts'

/** Every action works with the keyboard alone. */
export function keyboard(site: () => PageSite): void {
  test('status and diagnosis by keys', async () => {
    const { lab, open } = site()
    const hosts = await Promise.all(['one', 'two', 'three'].map((subdomain) => applied(lab, { subdomain })))
    const page = await open('/')
    await badgeOf(page, 'two.lab.test', 'RUNNING').waitFor(SEEN_WITHIN)
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the content')
    await page.keyboard.press('/')
    await page.keyboard.type('t')
    await page.getByRole('row').filter({ hasText: 'one.lab.test' }).waitFor()
    await page.keyboard.type('wo')
    await page.getByRole('row').filter({ hasText: 'one.lab.test' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.getByRole('row').filter({ hasText: 'one.lab.test' }).waitFor()
    await page.keyboard.press('ArrowDown')
    const first = await focused(page)
    expect(first).toMatch(/^RUNNING, diagnose /)
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).not.toBe(first)
    await page.keyboard.press('Home')
    await expect.poll(() => focused(page)).toBe(first)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: /^Diagnosis of/ }).waitFor()
    expect(await focused(page)).toMatch(/^Diagnosis of /)
    await tabTo(page, 'Copy Configuration')
    await page.keyboard.press('Enter')
    await page.getByText('Copied Configuration').waitFor()
    await tabTo(page, 'Look again')
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: /^Diagnosis of/ }).waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe(first)
    for (const { planId } of hosts) await removed(lab, planId)
  })

  test('plan, apply and remove by keys', async () => {
    const page = await site().open('/plan')
    await tabTo(page, 'Subdomain')
    await page.keyboard.type('keys')
    await tabTo(page, '23')
    await page.keyboard.press('ArrowRight')
    await tabTo(page, 'Port')
    await page.keyboard.type('3000')
    await tabTo(page, 'HTTPS, with a certificate for the name')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await page.getByText('can be exposed').waitFor()
    await tabTo(page, 'Apply')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Apply')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Apply keys.lab.test')
    await page.keyboard.press('Enter')
    await page.getByText('keys.lab.test is on the air').waitFor(SEEN_WITHIN)
    await tabTo(page, 'Remove…')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Type keys.lab.test to confirm')
    await page.keyboard.type('keys.lab.test')
    await page.keyboard.press('Enter')
    await page.getByText('keys.lab.test is off the air').waitFor(SEEN_WITHIN)
  })

  test('the theme can be chosen and is remembered', async () => {
    const page = await site().open('/help', 'outside', { colorScheme: 'light' })
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await ground()
    await page.getByRole('button', { name: /^Colours: as the system/ }).press('Enter')
    expect(await ground()).toBe(light)
    await page.getByRole('button', { name: /^Colours: light/ }).press('Enter')
    expect(await ground()).not.toBe(light)
    await page.reload()
    expect(await ground()).not.toBe(light)
  })
}

/** The accessible name of the focused element. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    if (!element) return ''
    const label =
      element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels?.[0] : null
    return (element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent ?? '').trim()
  })

const MOST_TABS = 60

export async function tabTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    if ((await focused(page)) === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${name} was not reached by ${MOST_TABS} tabs`)
}
