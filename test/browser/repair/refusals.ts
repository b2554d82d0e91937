import { expect } from 'vitest'
import { test } from '../site/page-test.ts'
import { askForPlan, fillPlan, goTo, makePlan } from '../site/steps.ts'

/** Errors are shown next to the field that caused them. */
export function refusals(): void {
  test('each field is checked against the policy when it loses focus', async ({ open }) => {
    const page = await open('/plan', 'outside')
    const describes = async (label: string) => {
      const field = page.getByLabel(label)
      const ids = (await field.getAttribute('aria-describedby')) ?? ''
      const texts = ids
        .split(' ')
        .filter(Boolean)
        .map((id) => page.locator(`[id="${id}"]`).innerText())
      return { invalid: await field.getAttribute('aria-invalid'), text: (await Promise.all(texts)).join(' ') }
    }
    await page.getByLabel('Subdomain').fill('no_good')
    await page.getByText('https://no_good.lab.test').waitFor()
    await page.getByLabel('Port').fill('8443')
    expect(await describes('Subdomain')).toMatchObject({
      invalid: 'true',
      text: expect.stringContaining('hyphens only'),
    })
    await page.getByLabel('Health path').fill('healthz')
    expect(await describes('Port')).toMatchObject({
      invalid: 'true',
      text: expect.stringContaining('reserved for Drawbridge'),
    })
    await askForPlan(page)
    expect(await describes('Health path')).toMatchObject({ text: expect.stringContaining('begins with /') })
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe('true')
    await page.getByLabel('Subdomain').fill('good')
    expect(await describes('Subdomain')).toMatchObject({ invalid: null })
  })

  test('nothing is preselected, examples are placeholders, and an empty health path is the usual one', async ({
    lab,
    open,
  }) => {
    const page = await open('/plan', 'outside')
    await page.getByLabel('Subdomain').waitFor()
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
    for (const [label, example] of [
      ['Subdomain', 'shop'],
      ['Port', '3000'],
      ['Health path', '/healthz'],
    ] as const) {
      const field = page.getByLabel(label)
      expect([await field.getAttribute('placeholder'), await field.inputValue()]).toEqual([example, ''])
    }
    await page.getByLabel('Subdomain').fill('nothing-chosen')
    await page.getByLabel('Port').fill('3000')
    await askForPlan(page)
    await page.getByText('Choose one of the target servers.').waitFor()
    await page.getByText('Options', { exact: true }).click()
    for (const group of ['Limits', 'Access', 'Headers', 'Backend'])
      await page.getByRole('group', { name: group }).waitFor()
    const planId = await makePlan(page, { subdomain: 'nothing-chosen', port: 3000, tls: false })
    expect((await lab.call({ path: `/api/deploy/plans/${planId}` })).body.request.health).toBe('/healthz')
  })

  test('a refused plan marks every field that caused it, with advice', async ({ open }) => {
    const page = await open('/plan', 'outside')
    await fillPlan(page, { subdomain: 'ns1', server: '253', port: 3000 })
    await askForPlan(page)
    await page.getByText('Refused: The backend is not healthy.').waitFor()
    expect(await page.getByText('Failed', { exact: true }).count()).toBe(2)
    for (const [label, words] of [
      ['Health path', /did not answer HTTP 2xx.*Make the health path answer/],
      ['Subdomain', /ns1\.lab\.test already has A records.*Choose another subdomain/],
    ] as const) {
      const ids = (await page.getByLabel(label).getAttribute('aria-describedby')) ?? ''
      const said = await Promise.all(ids.split(' ').map((id) => page.locator(`[id="${id}"]`).innerText()))
      expect(said.join(' ')).toMatch(words)
    }
    // Each reason stands once: the check says only where.
    expect(await page.getByText('did not answer HTTP 2xx').count()).toBe(1)
    await page.getByText('The reason stands at the field “Subdomain”.').waitFor()
    expect(await page.getByText('What changes').count()).toBe(0)
  })

  test('an unknown page shows an error', async ({ open }) => {
    const page = await open(`/plans/plan_${'0'.repeat(26)}`, 'outside')
    await page.getByText('The plan does not exist').waitFor()
    await goTo(page, '/hosts/nobody.lab.test')
    await page
      .getByRole('region', { name: /nobody/ })
      .getByRole('alert')
      .waitFor()
  })

  test('an unknown address shows the page’s own not-found', async ({ lab, open }) => {
    const page = await open('/help', 'outside')
    for (const path of ['/nowhere', '/plans/x/y/z', '/hosts/a/b/c']) {
      expect((await page.goto(`${lab.description.outside}${path}`))?.status()).toBe(404)
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      await page.getByRole('link', { name: 'See all hosts' }).click()
      await page.getByRole('heading', { name: 'Status' }).waitFor()
    }
    await page.goto(`${lab.description.outside}/help/`)
    await page.getByRole('region', { name: 'Allowed here' }).waitFor()
  })

  test('a program that asks for an unknown address gets a problem', async ({ lab }) => {
    const answer = await fetch(`${lab.description.outside}/nowhere`)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toMatch(/problem\+json/)
    const api = await fetch(`${lab.description.outside}/api/nowhere`, { headers: { accept: 'text/html' } })
    expect(api.headers.get('content-type')).toMatch(/problem\+json/)
  })
}
