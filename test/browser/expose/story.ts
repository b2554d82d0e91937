import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { startSwitchedBackend } from '../../support/backends/switched-backend.ts'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { visit } from '../../support/edge/visitor.ts'
import { applied, planned } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import type { PageSite } from '../../support/programs/browser.ts'
import { test } from '../site/page-test.ts'
import { askForPlan, badgeOf, makePlan, rowOf, TALL } from '../site/steps.ts'

/** Everything that an internal user does with the page, from the plan to the removal. */
export function story(): void {
  test('plan, apply, open, break, understand, repair, remove', async ({ browser, lab, open }) => {
    await using backend = await startSwitchedBackend(lab, 'This is the shop.\n')
    const host = `store.${lab.description.zone}`
    const page = await open('/plan', 'inside', TALL)
    const credential = watchCredential(page)

    const planId = await makePlan(page, { subdomain: 'store', port: backend.port, health: '/' })
    await expectPassed(page, host)

    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: `Apply ${host}?` })
    expect(await dialog.innerText()).toMatch(/server 25.*A certificate for.*is issued.*Both edges.*gets the record A/s)
    await dialog.getByRole('button', { name: `Apply ${host}` }).click()
    await page.getByText(`${host} is on the air`).waitFor()
    await page.getByRole('link', { name: `Visit https://${host}` }).waitFor()
    const tops = await page.getByRole('region').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
    expect(tops[0]).toBe('Apply')
    await page.getByRole('heading', { name: /^Primary \(23\).*✓ verified$/ }).waitFor()
    await page.getByRole('heading', { name: /^Secondary \(73\).*✓ verified$/ }).waitFor()
    const steps = await page.getByRole('list', { name: 'Steps' }).getByRole('listitem').allInnerTexts()
    expect(steps.map((step) => step.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^Check again Done [\d.]+ m?s$/),
      expect.stringMatching(/^Back up .* Done [\d.]+ m?s$/),
      expect.stringMatching(/^Get the certificate Done [\d.]+ m?s$/),
      expect.stringMatching(/^Write .* Done [\d.]+ m?s$/),
      expect.stringMatching(/^Set the DNS record Done [\d.]+ m?s$/),
      expect.stringMatching(/^Verify .* Done [\d.]+ m?s$/),
    ])
    await expectNowhere(page, credential())

    await expectServed({ browser, lab }, host, 'This is the shop.')
    await page.getByRole('link', { name: 'Status', exact: true }).click()
    await badgeOf(page, host, 'RUNNING').waitFor()

    await backend.stop()
    await housekeeping(lab, 'check')
    await badgeOf(page, host, 'HTTP 502').waitFor()
    await badgeOf(page, host, 'HTTP 502').click()
    await page.waitForURL(`**/hosts/${host}`)
    const diagnosis = page.getByRole('region', { name: `Diagnosis of ${host}` })
    await diagnosis.getByText(/^Nothing listens on/).waitFor()
    expect(await diagnosis.getByRole('listitem').filter({ hasText: 'broken' }).first().innerText()).toMatch(
      /Backend: connection/,
    )
    expect(await diagnosis.innerText()).toMatch(
      new RegExp(`backends/\\d\\d\\.map.*listen.*proxy_pass.*:${backend.port}.*25`, 's'),
    )

    await diagnosis.getByRole('link', { name: 'Host page' }).click()
    await page
      .getByRole('region', { name: 'Incidents', exact: true })
      .getByText(/Began .*, ongoing \(/)
      .waitFor()
    await page.goBack()

    await backend.start()
    await housekeeping(lab, 'check')
    await badgeOf(page, host, 'RUNNING').waitFor()
    await diagnosis.getByText('Nothing needs to be done.').waitFor()

    await diagnosis.getByRole('link', { name: 'Host page' }).click()
    const incident = page.getByRole('region', { name: 'Incidents', exact: true }).getByRole('listitem')
    await incident.filter({ hasText: /HTTP 502\s*Began .*, ended / }).waitFor()
    await page.goBack()

    await diagnosis.getByRole('link', { name: 'Plan and removal' }).click()
    await page.waitForURL(`**/plans/${planId}`)
    await page.getByRole('button', { name: 'Remove…' }).click()
    const removal = page.getByRole('dialog', { name: `Remove ${host}?` })
    expect(await removal.getByRole('button', { name: `Remove ${host}` }).isDisabled()).toBe(true)
    await removal.getByLabel(`Type ${host} to confirm`).fill(host)
    await removal.getByRole('button', { name: `Remove ${host}` }).click()
    await page.getByText(`${host} is off the air`).waitFor()
    await expectNowhere(page, credential())
    for (const moment of ['Planned', 'Apply begun', 'Applied', 'Removal begun', 'Removed']) {
      await page.getByRole('region', { name: 'Timeline' }).getByText(moment, { exact: true }).waitFor()
    }
    await page.getByRole('link', { name: 'Status', exact: true }).click()
    await rowOf(page, host).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Plans', exact: true }).click()
    await page.getByRole('row', { name: new RegExp(`${host} Removed .*${lab.description.callers.internal}`) }).waitFor()
  })

  test('an applied exposure is changed in place', async ({ lab, open }) => {
    await using other = await startWebBackend(lab, (_request, response) => response.end('the other'))
    const { planId, host } = await applied(lab, { subdomain: 'moving' })
    const page = await open(`/plans/${planId}`)
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.waitForURL(`**/plans/${planId}/change`)
    await page.getByRole('heading', { name: `Change ${host}` }).waitFor()
    expect(await page.getByLabel('Subdomain').inputValue()).toBe('moving')
    expect(await page.getByLabel('Subdomain').isEditable()).toBe(false)
    expect(await page.getByLabel('Port').inputValue()).toBe('3000')
    expect(await page.getByRole('checkbox', { name: /HTTPS/ }).isChecked()).toBe(false)
    await page.getByLabel('Port').fill(String(other.port))
    await askForPlan(page)
    await page.getByText(`${host} can be changed.`).waitFor()
    const changes = page.getByRole('table', { name: `What an apply of ${host} changes` })
    await changes.getByRole('row', { name: 'Backend' }).waitFor()
    expect(await changes.innerText()).toMatch(
      new RegExp(`Backend.*port 3000.*port ${other.port}.*DNS.*Stays as it is`, 's'),
    )
    expect(await page.getByRole('list', { name: 'Order of the apply' }).getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Check again/),
      expect.stringMatching(/^Back up/),
      expect.stringMatching(/^Write and load/),
      expect.stringMatching(/^Verify/),
    ])
    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    await page.getByRole('button', { name: `Apply ${host}` }).click()
    await page.getByText(`${host} was changed`).waitFor()
    const visited = await visit(lab.description.edges.primary, { host, path: '/healthz' })
    expect(visited.text).toBe('the other')
    await page.getByRole('link', { name: 'Plans', exact: true }).click()
    await page.getByRole('row', { name: new RegExp(`${host} Replaced`) }).waitFor()
    await page
      .getByRole('row', { name: new RegExp(`${host} Applied`) })
      .getByRole('link')
      .click()
    await page.getByRole('region', { name: 'Timeline' }).getByText('Changed', { exact: true }).waitFor()
  })

  test('a failed apply shows its undo step by step', async ({ lab, open }) => {
    await using sick = await startWebBackend(lab, (_request, response) => response.writeHead(500).end())
    const { planId, host } = await planned(lab, { subdomain: 'sick', port: sick.port })
    const page = await open(`/plans/${planId}`)
    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    await page.getByRole('button', { name: `Apply ${host}` }).click()
    await page.getByText(`The apply of ${host} failed: Through the edge the health path answered HTTP 500.`).waitFor()
    const undone = page.getByRole('list', { name: 'Rolled back' }).getByRole('listitem')
    await undone.last().waitFor()
    expect(await undone.count()).toBe(2)
    expect((await undone.allInnerTexts()).every((text) => text.includes('Rolled back'))).toBe(true)
    expect(await page.getByRole('list', { name: 'Steps' }).innerText()).toMatch(/Verify.*Failed.*HTTP 500/s)
    await page.getByText('Make the backend answer its health path with HTTP 2xx, then try again.').waitFor()
    await page.getByRole('button', { name: 'Apply again' }).waitFor()
  })
}

async function expectPassed(page: Page, host: string): Promise<void> {
  expect(await page.getByText('Passed', { exact: true }).count()).toBe(4)
  const changes = await page.getByRole('table', { name: `What an apply of ${host} changes` }).innerText()
  expect(changes).toMatch(/Certificate.*issued by.*Proxy entry.*proxy_pass http.*DNS.* 60 A /s)
  expect(await page.getByText(/, for 24 h$/).count()).toBe(1)
  const command = page.locator('pre')
  expect(await command.innerText()).toMatch(/^drawbridge apply plan_[0-9a-z]{26}/)
  await page.getByRole('tab', { name: 'curl' }).click()
  expect(await command.innerText()).toMatch(/api\/internal\/token.*api\/deploy\/apply.*x-deploy-capability: \$RIGHT/s)
}

/** The last capability that this page got. */
function watchCredential(page: Page): () => string {
  let capability = ''
  page.on('response', async (response) => {
    if (response.url().endsWith('/api/internal/token')) capability = (await response.json()).capability
  })
  return () => capability
}

async function expectNowhere(page: Page, capability: string): Promise<void> {
  expect(capability.length).toBeGreaterThan(20)
  const kept = await page.evaluate(() =>
    JSON.stringify([
      document.documentElement.outerHTML,
      location.href,
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      history.state,
    ]),
  )
  expect(kept).not.toContain(capability)
}

/** Opens the host as a visitor: by its name, through the edge, over https. */
async function expectServed(
  { browser, lab }: Pick<PageSite, 'browser' | 'lab'>,
  host: string,
  text: string,
): Promise<void> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  const answer = await page.goto(`https://${host}:${lab.description.edges.primary.https}/`)
  expect(answer?.status()).toBe(200)
  expect((await answer?.securityDetails())?.issuer).toMatch(/Pebble/)
  expect(await page.content()).toContain(text)
  await context.close()
}
