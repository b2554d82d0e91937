import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { updateZone } from '../../support/dns/lab-dns.ts'
import { visit } from '../../support/edge/visitor.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied, planned, run } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { drawbridge } from '../../support/programs/drawbridge.ts'
import { expectAccessible } from '../site/accessible.ts'
import { focused, openDialog, pressOn, tabTo } from '../site/keys.ts'
import { test } from '../site/page-test.ts'
import { goTo } from '../site/steps.ts'

const entryOf = (lab: TestLab, host: string) => entryFile(lab.description.edges.primary, host)
const edit = (lab: TestLab, host: string) => editEntry(entryOf(lab, host), host)
const section = (page: Page) => page.getByRole('region', { name: 'What can be done' })
const buttons = async (page: Page) =>
  (await section(page).getByRole('button').allInnerTexts()).map((text) => text.trim())

/** What the page offers for a host that is not as it was applied, and what it shows of it. */
export function repairs(): void {
  test('an edited entry is compared, and overwritten after a confirmation', async ({ lab, open }) => {
    const { host } = await applied(lab, { subdomain: 'touched' })
    edit(lab, host)
    const page = await open(`/hosts/${host}`)
    const differences = section(page).getByRole('table', { name: `How ${host} differs from its plan` })
    await differences.waitFor()
    expect(await differences.getByRole('columnheader').allInnerTexts()).toEqual(['Part', 'Field', 'Expected', 'Found'])
    expect(await differences.getByRole('row').last().innerText()).toMatch(/Entry.*changed outside.*line \d+.*since/s)
    await page.getByText('Press “Overwrite and repair” to discard the change, or Accept to keep it.').waitFor()
    expect(await buttons(page)).toEqual(['Overwrite and repair', 'Accept'])
    await expectAccessible(page)
    await page.setViewportSize({ width: 320, height: 800 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
    await page.setViewportSize({ width: 1280, height: 800 })

    await section(page).getByRole('button', { name: 'Overwrite and repair' }).click()
    const dialog = page.getByRole('dialog', { name: `Overwrite and repair ${host}?` })
    expect(await dialog.innerText()).toMatch(/backend is overwritten.*is lost.*put back/s)
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(readFileSync(entryOf(lab, host), 'utf8')).toContain('# edited')

    await section(page).getByRole('button', { name: 'Overwrite and repair' }).click()
    await dialog.getByRole('button', { name: 'Overwrite and repair' }).click()
    await page.getByText(`${host} was repaired`).waitFor()
    const steps = await section(page).getByRole('list', { name: 'Steps' }).getByRole('listitem').allInnerTexts()
    expect(steps.map((step) => step.split('\n')[0])).toEqual([
      'Back up the configuration',
      'Write the proxy entry again and load',
      'Set the DNS records again',
      'Verify on Primary and Secondary',
    ])
    expect(readFileSync(entryOf(lab, host), 'utf8')).not.toContain('# edited')
    await page.getByText('Nothing needs to be done.').waitFor()
    expect(await buttons(page)).toEqual([])
  })

  test('a missing record is repaired on the page of the plan, by keys', async ({ lab, open }) => {
    const { planId, host } = await applied(lab, { subdomain: 'unnamed' })
    updateZone(lab, `update delete ${host} A`)
    const page = await open(`/plans/${planId}`)
    // A short run ends before its stream opens. The page learns of the end without it.
    await page.route('**/api/deploy/plans/*/events', (route) => route.abort())
    await section(page).getByRole('table').waitFor()
    expect(await section(page).innerText()).toMatch(/DNS has no address.*Press Repair.*missing/s)
    await expectAccessible(page)
    await tabTo(page, 'Repair')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: `Repair ${host}?` }).waitFor()
    await page.keyboard.press('Escape')
    expect(await focused(page)).toBe('Repair')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Repair')
    await page.keyboard.press('Enter')
    await page.getByText(`${host} was repaired`).waitFor()
    await section(page).waitFor({ state: 'detached' })
    const timeline = page.getByRole('region', { name: 'Timeline' })
    for (const moment of ['Repair begun', 'Repaired']) await timeline.getByText(moment, { exact: true }).waitFor()
  })

  test('a blocked plan shows the commands that resolve it', async ({ lab, open }) => {
    let isTouched = false
    await using backend = await startWebBackend(lab, (_request, response) => {
      if (!isTouched) edit(lab, `stuck.${lab.description.zone}`)
      isTouched = true
      response.writeHead(500).end()
    })
    const { planId, host } = await planned(lab, { subdomain: 'stuck', port: backend.port })
    await run(lab, planId)
    const page = await open(`/plans/${planId}`)
    await page.getByText(`${host} is blocked`).waitFor()
    // The whole command, with the configuration file of this service.
    const { configFile } = (await lab.call({ path: '/api/policy' })).body
    expect(existsSync(configFile)).toBe(true)
    expect((await lab.call({ path: '/api/policy', from: 'public' })).body).not.toHaveProperty('configFile')
    await page.getByText(`drawbridge resolve ${planId} --config ${configFile}`, { exact: true }).waitFor()
    await page.getByText(`drawbridge resolve ${planId} --config ${configFile} --accept`, { exact: true }).waitFor()
    await page.getByText('Blocked', { exact: true }).waitFor()
    await expectAccessible(page)
    writeFileSync(entryOf(lab, host), readFileSync(entryOf(lab, host), 'utf8').replace(' # edited', ''))
    const resolved = await drawbridge(['resolve', planId, '--config', join(lab.state, 'drawbridge.yaml')])
    expect(resolved.code).toBe(0)
  })

  test('a public caller sees the cause and nothing that changes anything', async ({ lab, open }) => {
    const { planId, host } = await applied(lab, { subdomain: 'watched', expiresIn: 3600 })
    edit(lab, host)
    const page = await open(`/hosts/${host}`, 'outside')
    await page.getByText('Ask the administrator of this service to repair the exposure.').waitFor()
    expect(await section(page).count()).toBe(0)
    expect(await page.getByRole('button', { name: /repair|accept|renew/i }).count()).toBe(0)
    await goTo(page, `/plans/${planId}`)
    await page.getByRole('region', { name: 'What changes' }).waitFor()
    expect(await section(page).count()).toBe(0)
    await goTo(page, `/hosts/${host}/details`)
    await page.getByRole('region', { name: 'Facts' }).waitFor()
    expect(await page.getByRole('button', { name: /^(Extend|Change|Repair|Begin|Mute)/ }).count()).toBe(0)
    expect(await page.getByRole('region', { name: 'Runs' }).count()).toBe(0)
    await goTo(page, '/activity')
    await page.getByText('The activity is for the internal network').waitFor()
    const answer = await run(lab, planId, 'repair', {}, { overwrite: true })
    expect(answer.status).toBe(200)
  })
}

/** The host stays in the zone and on the edges without an exposure. */
export function accepting(): void {
  test('an accepted host stays on the air, and its plan is released', async ({ lab, open }) => {
    const { planId, host } = await applied(lab, { subdomain: 'let-go' })
    edit(lab, host)
    const page = await open(`/hosts/${host}`)
    await section(page).getByRole('button', { name: 'Accept' }).waitFor()
    const dialog = await openDialog(page, 'Accept', `Accept ${host} as it stands?`)
    expect(await dialog.innerText()).toMatch(/stays on the air.*owner mark.*file outside.*nobody renews/s)
    await expectAccessible(page)
    await pressOn(page, 'Accept')
    await page.getByText(`${host} was accepted as it stands`).waitFor()
    await page.getByRole('code').filter({ hasText: 'unmanaged' }).waitFor()
    expect((await visit(lab.description.edges.primary, { host, path: '/healthz' })).status).toBe(200)
    await goTo(page, `/plans/${planId}`)
    await page.getByText(`${host} is no longer managed by Drawbridge`).waitFor()
    await page.getByText('Released', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /^(remove|repair|change|accept)/i }).count()).toBe(0)
    await expectAccessible(page)
  })
}
