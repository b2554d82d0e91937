import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { applied } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { focused, pressOn, tabTo } from '../site/keys.ts'
import { badgeOf, SEEN_WITHIN } from '../site/steps.ts'

const ZONE = 'lab.test'
const OWNER = 'It belongs to web-team. I act for web-team.'

/** Every act on every screen with the keyboard alone, on the hosts of the demonstration. Nothing here uses a mouse. */
export async function everyActByKeys(page: Page, lab: TestLab): Promise<void> {
  const visit = (path: string) => page.goto(`${lab.description.inside}${path}`)
  const planned = { expiresIn: 3600, owner: 'web-team' }
  for (const subdomain of ['keys-1', 'keys-2', 'keys-3']) await applied(lab, { subdomain, ...planned })
  await actsOnOneHost(page, visit)
  await actsOfDiagnoses(page, visit)
  await changeAndRemove(page, visit)
  await listsAndFilters(page, visit)
  await severalAtOnce(page, visit)
}

type Visit = (path: string) => Promise<unknown>

/** Opens a dialog, leaves it by Esc, and opens it again: the focus comes back to the button each time. */
async function openDialog(page: Page, button: string, title: string): Promise<void> {
  await pressOn(page, button)
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await focused(page)).toBe(button)
  await page.keyboard.press('Enter')
  await dialog.waitFor()
}

async function actsOnOneHost(page: Page, visit: Visit): Promise<void> {
  const host = `keys-1.${ZONE}`
  await visit(`/hosts/${host}/details`)
  const charts = page.getByRole('region', { name: 'Uptime, latency and incidents' })
  await charts.waitFor(SEEN_WITHIN)
  for (const range of ['7 days', '30 days', '90 days']) {
    await pressOn(page, range)
    await charts
      .getByText(new RegExp(`(Uptime, ${range}: |No checks in the last ${range})`))
      .first()
      .waitFor()
  }
  await visit(`/hosts/${host}/details`)
  await openDialog(page, 'Extend…', `Extend ${host}?`)
  await tabTo(page, 'Expires')
  await page.keyboard.press('ArrowUp')
  await pressOn(page, OWNER, 'Space')
  await pressOn(page, `Extend ${host}`)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Extend…')
  await page.getByRole('region', { name: 'Facts' }).waitFor()

  await openDialog(page, 'Mute…', `Mute ${host}?`)
  await tabTo(page, 'Why')
  await page.keyboard.type('moves')
  await page.keyboard.press('Enter')
  await page.getByText(/^Muted until /).waitFor()
  await pressOn(page, 'End mute')
  await page.getByRole('button', { name: 'Mute…' }).waitFor()

  await openDialog(page, 'Begin maintenance…', `Put ${host} into maintenance?`)
  await tabTo(page, 'Tell visitors to come back in')
  await page.keyboard.press('ArrowDown')
  await pressOn(page, `Begin maintenance of ${host}`)
  await page.getByText('Under maintenance').waitFor(SEEN_WITHIN)
  await visit('/')
  await page.getByRole('row').filter({ hasText: host }).getByText('Maintenance', { exact: true }).waitFor(SEEN_WITHIN)
  await visit(`/hosts/${host}/details`)
  await page.getByText('Under maintenance').waitFor(SEEN_WITHIN)
  await openDialog(page, 'End maintenance…', `End the maintenance of ${host}?`)
  await pressOn(page, `End maintenance of ${host}`)
  await page.getByRole('button', { name: 'Begin maintenance…' }).waitFor(SEEN_WITHIN)
}

/** What mends the hosts of the demonstration. */
async function actsOfDiagnoses(page: Page, visit: Visit): Promise<void> {
  await visit(`/hosts/legacy.${ZONE}`)
  await page
    .getByText(/^drawbridge resolve plan_/)
    .first()
    .waitFor(SEEN_WITHIN)
  await pressOn(page, 'Copy the command that finishes')
  await page.getByText('Copied the command that finishes').waitFor()

  for (const [name, act, title, told] of [
    ['docs', 'Repair', 'Repair', 'was repaired'],
    ['files', 'Overwrite and repair', 'Overwrite and repair', 'was repaired'],
    ['grafana', 'Accept', 'Accept', 'was accepted as it stands'],
  ] as const) {
    const host = `${name}.${ZONE}`
    await visit(`/hosts/${host}`)
    await page.getByRole('button', { name: act, exact: true }).waitFor(SEEN_WITHIN)
    await openDialog(page, act, `${title} ${host}${act === 'Accept' ? ' as it stands?' : '?'}`)
    await pressOn(page, act)
    await page.getByText(`${host} ${told}`).waitFor(SEEN_WITHIN)
    // The run takes the place of the button, and the focus goes there.
    expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true)
  }

  await visit('/certificates')
  await page.getByRole('link', { name: `shop.${ZONE}` }).waitFor(SEEN_WITHIN)
  await tabTo(page, `shop.${ZONE}`)
  await pressOn(page, 'Renew…')
  await page.getByRole('button', { name: 'Renew certificate' }).waitFor()
  await pressOn(page, 'Renew certificate')
  await page.getByRole('dialog', { name: /^Renew the certificate of / }).waitFor()
  await pressOn(page, 'Renew certificate')
  await page.getByText(`shop.${ZONE} has a new certificate`).waitFor(SEEN_WITHIN)
}

async function changeAndRemove(page: Page, visit: Visit): Promise<void> {
  const host = `keys-1.${ZONE}`
  await visit(`/hosts/${host}/details`)
  await page.getByRole('button', { name: 'Open plan' }).waitFor(SEEN_WITHIN)
  await pressOn(page, 'Open plan')
  await page.getByRole('button', { name: 'Change…' }).waitFor()
  await pressOn(page, 'Change…')
  await page.getByRole('heading', { name: `Change ${host}` }).waitFor()
  await tabTo(page, 'Health path')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('/')
  await pressOn(page, /^Options, owner and note/)
  await tabTo(page, 'Largest request body')
  await page.keyboard.type('5m')
  await page.keyboard.press('Enter')
  await page.getByText(`${host} can be changed.`).waitFor()
  await openDialog(page, 'Apply', `Apply ${host}?`)
  await pressOn(page, `Apply ${host}`)
  await page.getByText(`${host} was changed`).waitFor(SEEN_WITHIN)
  await openDialog(page, 'Remove…', `Remove ${host}?`)
  await tabTo(page, `Type ${host} to confirm`)
  await page.keyboard.type(host)
  await page.keyboard.press('Enter')
  await page.getByText(`${host} is off the air`).waitFor(SEEN_WITHIN)
  await pressOn(page, 'Plan again')
  await page.getByLabel('Subdomain').waitFor()
  expect(await page.getByLabel('Subdomain').inputValue()).toBe('keys-1')
  await page.getByRole('button', { name: 'Clear' }).waitFor()
  await pressOn(page, 'Clear')
  expect(await page.getByLabel('Subdomain').inputValue()).toBe('')
}

async function listsAndFilters(page: Page, visit: Visit): Promise<void> {
  await visit('/network')
  await page.getByRole('list', { name: 'Names on server 25', exact: true }).waitFor(SEEN_WITHIN)
  await pressOn(page, `shop.${ZONE}`)
  await page.waitForURL(`**/hosts/shop.${ZONE}/details`)

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
  await badgeOf(page, `shop.${ZONE}`, 'RUNNING').waitFor(SEEN_WITHIN)
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

async function severalAtOnce(page: Page, visit: Visit): Promise<void> {
  await visit('/?search=keys-')
  const extend = 'Extend 2 shown exposures…'
  await page.getByRole('button', { name: extend }).waitFor(SEEN_WITHIN)
  await openDialog(page, extend, 'Extend 2 exposures?')
  await pressOn(page, 'Extend 2 exposures')
  await page.getByText('Extended: 2 of 2').waitFor(SEEN_WITHIN)
  // The progress takes the place of the button, and the focus goes there.
  expect(await focused(page)).toMatch(/^Extended: /)
  await openDialog(page, 'Remove 2 shown exposures…', 'Remove 2 exposures?')
  await tabTo(page, 'Type 2 to confirm')
  await page.keyboard.type('2')
  await page.keyboard.press('Enter')
  await page.getByText('Removed: 2 of 2').waitFor(SEEN_WITHIN)
  expect(await focused(page)).toMatch(/^Removed: /)
}
