import { expect, test } from 'vitest'
import { visit } from '../../support/edge/visitor.ts'
import { applied, planOf, removed } from '../../support/lab/exposure.ts'
import type { PageSite } from '../../support/programs/browser.ts'
import { expectAccessible } from '../site/accessible.ts'
import { tabTo } from '../site/keys.ts'
import { askForPlan, badgeOf, SEEN_WITHIN } from '../site/steps.ts'

/** The screens beside status and plans. */
export function screens(site: () => PageSite): void {
  test('the page of a host shows its history as charts that are described, its facts and what was done', async () => {
    const { lab, open } = site()
    const { planId, host } = await applied(lab, {
      subdomain: 'detailed',
      tls: true,
      expiresIn: 7200,
      owner: 'web-team',
      note: 'Shown to customers',
      options: { maxBody: '5m' },
    })
    const page = await open(`/hosts/${host}`)
    await page.getByRole('link', { name: 'Host page' }).click()
    await page.getByRole('heading', { name: host, level: 1 }).waitFor()
    const charts = page.getByRole('region', { name: 'Uptime, latency and incidents' })
    for (const range of ['24 hours', '7 days', '30 days', '90 days']) {
      await charts.getByRole('button', { name: range }).click()
      await charts
        .getByText(new RegExp(`(Uptime, ${range}: 100 %, from 1 |No checks in the last ${range})`))
        .first()
        .waitFor()
    }
    expect(await page.getByRole('region', { name: 'Facts' }).innerText()).toMatch(
      /Certificate\s+\d+ d, until.*Owner\s+web-team.*Note\s+Shown to customers.*Entry.*Record A/s,
    )
    await page.getByRole('list', { name: 'Activity' }).getByText('apply', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Runs' }).getByText('Applied', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Extend…' }).click()
    await expectAccessible(page)
    // The host belongs to somebody, so the page asks first.
    expect(await page.getByRole('button', { name: `Extend ${host}` }).isDisabled()).toBe(true)
    await page.getByLabel('It belongs to web-team. I act for web-team.').check()
    await page.getByRole('button', { name: `Extend ${host}` }).click()
    await expect
      .poll(async () => Date.parse((await lab.call({ path: `/api/health?host=${host}` })).body.expiresAt) - Date.now())
      .toBeGreaterThan(6 * 86_400_000)
    await page.getByText(/^Expires /).waitFor()

    await page.getByRole('link', { name: 'Certificates' }).click()
    await page.getByRole('list', { name: 'Certificates' }).getByRole('link', { name: host }).waitFor()
    // Issuer and names are there before Renew is pressed.
    await page
      .getByRole('listitem')
      .filter({ hasText: host })
      .getByText(new RegExp(`Pebble Intermediate CA \\w+: ${host}`))
      .waitFor()
    await page.getByRole('button', { name: 'Renew…' }).first().click()
    await page.getByRole('button', { name: 'Renew certificate' }).waitFor()
    await expectAccessible(page)

    await page.getByRole('link', { name: 'Network', exact: true }).click()
    await page.getByRole('list', { name: 'Names on server 25' }).getByRole('link', { name: host }).waitFor()
    await page.getByRole('list', { name: 'Ports of server 25' }).getByText('Port 3000: 1 name').waitFor()

    await page.getByRole('link', { name: 'Activity' }).click()
    const lines = page.getByRole('list', { name: 'Activity' }).getByRole('listitem')
    await lines.filter({ hasText: host }).first().waitFor()
    await page.getByLabel('Search').fill('nothing-like-it')
    await page.getByText('No activity matches').waitFor()
    await page.getByLabel('Search').fill('')
    await removed(lab, planId)
    // New lines appear by themselves.
    await lines.filter({ hasText: 'remove' }).filter({ hasText: host }).first().waitFor(SEEN_WITHIN)
    await page.getByLabel('Show').selectOption('event')
    await lines.filter({ hasText: 'exposure.removed' }).filter({ hasText: host }).waitFor(SEEN_WITHIN)
    expect(await lines.filter({ hasText: /^(Done|Refused|Failed)/ }).count()).toBe(0)

    await page.goto(`${lab.description.inside}/plans/${planId}`)
    await page.getByRole('button', { name: 'Plan again' }).click()
    expect(await page.getByLabel('Subdomain').inputValue()).toBe('detailed')
    await askForPlan(page)
    await page.getByText(`${host} can be exposed.`).waitFor()
    const again = await planOf(lab, new URL(page.url()).pathname.split('/').at(-1) ?? '')
    expect(again.request).toMatchObject({
      owner: 'web-team',
      note: 'Shown to customers',
      options: { maxBody: '5m' },
    })
  })

  test('a host is put into maintenance and taken out again on its page, by keys', async () => {
    const { lab, open } = site()
    const { host } = await applied(lab, { subdomain: 'mended', owner: 'ops', options: { maxBody: '5m' } })
    const page = await open(`/hosts/${host}/details`)
    const panel = page.getByRole('region', { name: 'Maintenance', exact: true })
    const statusOf = async () => (await visit(lab.description.edges.primary, { host, path: '/healthz' })).status
    await panel.getByRole('button', { name: 'Begin maintenance…' }).focus(SEEN_WITHIN)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: `Put ${host} into maintenance?` })
    await dialog.getByLabel('Tell visitors to come back in').selectOption('900')
    expect(await dialog.getByRole('button', { name: `Begin maintenance of ${host}` }).isDisabled()).toBe(true)
    await dialog.getByLabel('It belongs to ops. I act for ops.').focus()
    await page.keyboard.press('Space')
    await expectAccessible(page)
    await tabTo(page, `Begin maintenance of ${host}`)
    await page.keyboard.press('Enter')
    await panel.getByText(`${host} was changed`).waitFor(SEEN_WITHIN)
    await panel.getByText('Under maintenance').waitFor(SEEN_WITHIN)
    expect(await panel.innerText()).toMatch(/come back in 15 min/)
    expect(await statusOf()).toBe(503)
    await expectAccessible(page)
    await panel.getByRole('button', { name: 'End maintenance…' }).click()
    // The answer about the owner holds for this tab.
    await page.getByRole('button', { name: `End maintenance of ${host}` }).click()
    await panel.getByRole('button', { name: 'Begin maintenance…' }).waitFor(SEEN_WITHIN)
    await expect.poll(statusOf).toBe(200)
    const { planId } = (await lab.call({ path: `/api/health?host=${host}` })).body
    expect((await planOf(lab, planId)).request).toMatchObject({ owner: 'ops', options: { maxBody: '5m' } })

    // A change of somebody's host asks as well.
    const other = await open(`/plans/${planId}/change`)
    await askForPlan(other)
    await other.getByRole('button', { name: 'Apply', exact: true }).click()
    const applying = other.getByRole('dialog', { name: `Apply ${host}?` })
    expect(await applying.getByRole('button', { name: `Apply ${host}` }).isDisabled()).toBe(true)
    await applying.getByLabel('It belongs to ops. I act for ops.').check()
    expect(await applying.getByRole('button', { name: `Apply ${host}` }).isEnabled()).toBe(true)
    await removed(lab, planId)
  })

  test('several exposures are extended and removed with one confirmation that lists them', async () => {
    const { lab, open } = site()
    const hosts = ['many-1', 'many-2', 'many-3'].map((name) => `${name}.lab.test`)
    for (const subdomain of ['many-1', 'many-2', 'many-3']) await applied(lab, { subdomain, expiresIn: 3600 })
    const other = await applied(lab, { subdomain: 'left-alone' })
    const page = await open('/?search=many-')
    await page.getByRole('button', { name: 'Extend 3 shown exposures…' }).click(SEEN_WITHIN)
    const extending = page.getByRole('dialog', { name: 'Extend 3 exposures?' })
    expect(await extending.getByRole('listitem').allInnerTexts()).toEqual(hosts)
    await extending.getByRole('button', { name: 'Extend 3 exposures' }).click()
    await page.getByText('Extended: 3 of 3').waitFor(SEEN_WITHIN)
    await page.getByRole('button', { name: 'Remove 3 shown exposures…' }).click()
    const removing = page.getByRole('dialog', { name: 'Remove 3 exposures?' })
    expect(await removing.getByRole('listitem').allInnerTexts()).toEqual(hosts)
    await expectAccessible(page)
    expect(await removing.getByRole('button', { name: 'Remove 3 exposures' }).isDisabled()).toBe(true)
    await removing.getByLabel('Type 3 to confirm').fill('3')
    await page.keyboard.press('Enter')
    await page.getByText('Removed: 3 of 3').waitFor(SEEN_WITHIN)
    expect((await lab.call({ path: '/api/hosts' })).body.hosts.map(({ host }: { host: string }) => host)).toEqual([
      other.host,
    ])
    await removed(lab, other.planId)
  })

  test('title and icon tell the number of red hosts', async () => {
    const { lab, open } = site()
    const { planId, host } = await applied(lab, { subdomain: 'alarming' })
    const page = await open('/')
    await badgeOf(page, host, 'RUNNING').waitFor(SEEN_WITHIN)
    expect(await page.title()).toBe('Status · Drawbridge')
    // The row that the stream would send.
    await page.route('**/api/hosts?*', async (route) => {
      const answer = await route.fetch()
      const body = await answer.json()
      for (const row of body.hosts) if (row.host === host) row.badge = 'HTTP 502'
      await route.fulfill({ response: answer, json: body })
    })
    await page.reload()
    await expect.poll(() => page.title()).toMatch(/^\(\d+\) Status/)
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg/)
    await page.getByRole('link', { name: 'Help' }).click()
    await expect.poll(() => page.title()).toMatch(/^\(\d+\) How it works/)

    // A muted host does not count.
    await page.goto(`${lab.description.inside}/hosts/${host}/details`)
    const alerts = page.getByRole('region', { name: 'Alerts' })
    await alerts.getByRole('button', { name: 'Mute…' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: `Mute ${host}?` })
    await dialog.getByLabel('Why').fill('<moves>')
    expect(await dialog.getByRole('button', { name: `Mute ${host}` }).isDisabled()).toBe(true)
    await dialog.getByLabel('Why').fill('moves to a new server')
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await alerts.getByText(/^Muted until /).waitFor()
    expect(await alerts.innerText()).toMatch(/moves to a new server/)
    await expectAccessible(page)
    await page.reload()
    await alerts.getByText(/^Muted until /).waitFor(SEEN_WITHIN)
    await expect.poll(() => page.title()).not.toMatch(/^\(/)
    await page.getByRole('link', { name: 'Status', exact: true }).click()
    await page.getByText(/needs? attention, 1 muted$/).waitFor()
    await page.getByRole('row').filter({ hasText: host }).getByText('Muted', { exact: true }).waitFor()
    await page.goBack()
    await alerts.getByRole('button', { name: 'End mute' }).click()
    await alerts.getByRole('button', { name: 'Mute…' }).waitFor()
    await removed(lab, planId)
  })

  test('a caller outside sees no activity, and no act on the page of a host', async () => {
    const { lab, open } = site()
    const { planId, host } = await applied(lab, { subdomain: 'shown-outside', expiresIn: 3600 })
    const page = await open(`/hosts/${host}/details`, 'outside')
    await page.getByRole('region', { name: 'Facts' }).waitFor(SEEN_WITHIN)
    expect(await page.getByRole('button', { name: /^(Extend|Change|Repair|Open plan)/ }).count()).toBe(0)
    expect(await page.getByRole('region', { name: 'Runs' }).count()).toBe(0)
    await page.goto(`${lab.description.outside}/activity`)
    await page.getByText('The activity is for the internal network').waitFor()
    await removed(lab, planId)
  })
}
