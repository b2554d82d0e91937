import { expect } from 'vitest'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { visit } from '../../support/edge/visitor.ts'
import { applied, planOf, removed } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { expectAccessible } from '../site/accessible.ts'
import { focused, openDialog, pressOn, tabTo } from '../site/keys.ts'
import { test } from '../site/page-test.ts'
import { askForPlan, goTo } from '../site/steps.ts'

const DAY_MS = 86_400_000

/** The screens beside status and plans. Every act is done by keys. */
export function screens(): void {
  test('the page of a host shows its history as charts that are described, and its facts', async ({ lab, open }) => {
    const { host } = await applied(lab, {
      ...{ subdomain: 'acted', tls: true, expiresIn: 7200 },
      ...{ owner: 'web-team', note: 'Shown to customers' },
    })
    const page = await open(`/hosts/${host}`)
    await page.getByRole('link', { name: 'Host page' }).click()
    await page.getByRole('heading', { name: host, level: 1 }).waitFor()
    const charts = page.getByRole('region', { name: 'Uptime, latency and incidents' })
    await charts.waitFor()
    for (const range of ['24 hours', '7 days', '30 days', '90 days']) {
      await pressOn(page, range)
      await charts
        .getByText(new RegExp(`(Uptime, ${range}: 100 %, from 1 |No checks in the last ${range})`))
        .first()
        .waitFor()
    }
    expect(await page.getByRole('region', { name: 'Facts' }).innerText()).toMatch(
      /Certificate\s+\d+ d, until.*Owner\s+web-team.*Note\s+Shown to customers.*Entry.*Record A/s,
    )
    await page
      .getByRole('list', { name: 'Activity' })
      .getByText(/was exposed on server 25, port 3000$/)
      .waitFor()
    await page.getByRole('region', { name: 'Runs' }).getByText('Applied', { exact: true }).waitFor()

    const extending = await openDialog(page, 'Extend…', `Extend ${host}?`)
    await expectAccessible(page)
    await tabTo(page, 'Removes itself')
    await page.keyboard.press('ArrowDown')
    // The host belongs to somebody, so the page asks first.
    expect(await extending.getByRole('button', { name: `Extend ${host}` }).isDisabled()).toBe(true)
    await pressOn(page, 'It belongs to web-team. I act for web-team.', 'Space')
    await pressOn(page, `Extend ${host}`)
    await extending.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Extend…')
    await expect
      .poll(async () => Date.parse((await lab.call({ path: `/api/health?host=${host}` })).body.expiresAt) - Date.now())
      .toBeGreaterThan(29 * DAY_MS)
    await page.getByText(/^Removes itself \d/).waitFor()

    const muting = await openDialog(page, 'Mute…', `Mute ${host}?`)
    await tabTo(page, 'Why')
    await page.keyboard.type('<moves>')
    expect(await muting.getByRole('button', { name: `Mute ${host}` }).isDisabled()).toBe(true)
    await page.keyboard.press('Control+A')
    await page.keyboard.type('moves to a new server')
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByText(/^Muted until /).waitFor()
    await page
      .getByText(/moves to a new server/)
      .first()
      .waitFor()
    await expectAccessible(page)
    await page.reload()
    await page.getByText(/^Muted until /).waitFor()
    await openDialog(page, 'End mute…', `End the mute of ${host}?`)
    await pressOn(page, 'End mute')
    await page.getByRole('button', { name: 'Mute…' }).waitFor()
  })

  test('certificates, network, activity and a plan that is made again', async ({ lab, open }) => {
    await using backend = await startWebBackend(lab, (_request, response) => response.end('detailed'))
    const wanted = { owner: 'web-team', note: 'Shown to customers', options: { maxBody: '5m' } }
    const { planId, host } = await applied(lab, { subdomain: 'detailed', tls: true, port: backend.port, ...wanted })
    const page = await open('/certificates')
    // Issuer and names are there before Renew is pressed.
    await page
      .getByRole('list', { name: 'Certificates' })
      .getByRole('listitem')
      .filter({ has: page.getByRole('link', { name: host }) })
      .getByText(new RegExp(`Pebble Intermediate CA \\w+: ${host}`))
      .waitFor()
    await page.getByRole('button', { name: 'Renew…' }).first().click()
    await page.getByRole('button', { name: 'Renew certificate' }).waitFor()
    await expectAccessible(page)

    await page.getByRole('link', { name: 'Network', exact: true }).click()
    await page.getByRole('list', { name: 'Names on server 25' }).getByRole('link', { name: host }).waitFor()
    await page.getByRole('list', { name: 'Ports of server 25' }).getByText(`Port ${backend.port}: 1 name`).waitFor()

    await page.getByRole('link', { name: 'Activity' }).click()
    const lines = page.getByRole('list', { name: 'Activity' }).getByRole('listitem')
    await lines.filter({ hasText: host }).first().waitFor()
    await page.getByLabel('Search').fill('nothing-like-it')
    await page.getByText('No activity matches').waitFor()
    await page.getByLabel('Search').fill('')
    await removed(lab, planId)
    // New lines appear by themselves.
    await lines.filter({ hasText: 'remove' }).filter({ hasText: host }).first().waitFor()
    await page.getByLabel('Show').selectOption('event')
    const removal = lines.filter({ hasText: `${host} was removed` })
    await removal.waitFor()
    // The name of the event is behind the disclosure.
    expect(await removal.getByText('exposure.removed').isVisible()).toBe(false)
    await removal.getByText(/^(Details|\d+ more)$/).click()
    await removal.getByText('exposure.removed').first().waitFor()

    await goTo(page, `/plans/${planId}`)
    await page.getByRole('button', { name: 'Plan again' }).click()
    expect(await page.getByLabel('Subdomain').inputValue()).toBe('detailed')
    await askForPlan(page)
    await page.getByText(`${host} can be exposed.`).waitFor()
    const again = await planOf(lab, new URL(page.url()).pathname.split('/').at(-1) ?? '')
    expect(again.request).toMatchObject(wanted)
  })

  test('a host is put into maintenance and taken out again on its page', async ({ expect, lab, open }) => {
    const { host } = await applied(lab, { subdomain: 'mended', owner: 'ops', options: { maxBody: '5m' } })
    const page = await open(`/hosts/${host}/details`)
    const panel = page.getByRole('region', { name: 'Maintenance', exact: true })
    const statusOf = async () => (await visit(lab.description.edges.primary, { host, path: '/healthz' })).status
    await page.getByRole('button', { name: 'Begin maintenance…' }).waitFor()
    const dialog = await openDialog(page, 'Begin maintenance…', `Put ${host} into maintenance?`)
    await dialog.getByLabel('Tell visitors to come back in').selectOption('900')
    expect(await dialog.getByRole('button', { name: `Begin maintenance of ${host}` }).isDisabled()).toBe(true)
    await pressOn(page, 'It belongs to ops. I act for ops.', 'Space')
    await expectAccessible(page)
    await pressOn(page, `Begin maintenance of ${host}`)
    await panel.getByText(`${host} was changed`).waitFor()
    await panel.getByText('Under maintenance').waitFor()
    expect(await panel.innerText()).toMatch(/come back in 15 min/)
    expect(await statusOf()).toBe(503)
    await expectAccessible(page)
    await goTo(page, `/?search=${host}`)
    await page.getByRole('row').filter({ hasText: host }).getByText('Maintenance', { exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'End maintenance…' }).waitFor()
    await openDialog(page, 'End maintenance…', `End the maintenance of ${host}?`)
    // The answer about the owner holds for this tab.
    await pressOn(page, `End maintenance of ${host}`)
    await page.getByRole('button', { name: 'Begin maintenance…' }).waitFor()
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
  })

  test('several exposures are extended and removed with one confirmation that lists them', async ({ lab, open }) => {
    const names = ['many-1', 'many-2', 'many-3']
    const hosts = names.map((name) => `${name}.lab.test`)
    await Promise.all(names.map((subdomain) => applied(lab, { subdomain, expiresIn: 3600 })))
    const other = await applied(lab, { subdomain: 'left-alone' })
    const page = await open('/?search=many-')
    for (const host of hosts) await page.getByRole('checkbox', { name: `Select ${host}` }).check()
    const bar = page.getByRole('region', { name: 'Selected exposures' })
    await bar.getByText('3 selected', { exact: true }).waitFor()
    const extending = await openDialog(page, 'Extend 3…', 'Extend 3 exposures?')
    expect(await extending.getByRole('listitem').allInnerTexts()).toEqual(hosts)
    await pressOn(page, 'Extend 3 exposures')
    await page.getByText('Extended: 3 of 3').waitFor()
    // The progress takes the place of the button, and the focus goes there.
    expect(await focused(page)).toMatch(/^Extended: /)
    const removing = await openDialog(page, 'Remove 3…', 'Remove 3 exposures?')
    expect(await removing.getByRole('listitem').allInnerTexts()).toEqual(hosts)
    await expectAccessible(page)
    expect(await removing.getByRole('button', { name: 'Remove 3 exposures' }).isDisabled()).toBe(true)
    await tabTo(page, 'Type 3 to confirm')
    await page.keyboard.type('3')
    await page.keyboard.press('Enter')
    await page.getByText('Removed: 3 of 3').waitFor()
    expect(await focused(page)).toMatch(/^Removed: /)
    const left = await hostsOf(lab)
    expect(left.filter((host) => hosts.includes(host))).toEqual([])
    expect(left).toContain(other.host)
  })
}

const hostsOf = async (lab: TestLab): Promise<readonly string[]> =>
  (await lab.call({ path: '/api/hosts?limit=500' })).body.hosts.map(({ host }: { host: string }) => host)
