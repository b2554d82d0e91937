import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { startWebBackend } from '../../support/backends/web-backend.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { applied, planned, run } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { drawbridge } from '../../support/programs/drawbridge.ts'
import { test } from '../site/page-test.ts'
import { badgeOf, TALL } from '../site/steps.ts'
import { Walk } from '../site/walk.ts'

const edit = (lab: TestLab, host: string) => editEntry(entryFile(lab.description.edges.primary, host), host)

/** `most`: keys that are pressed, without the characters that are typed. */
async function walked(page: Page, task: string, most: number, way: (walk: Walk) => Promise<void>): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  const walk = new Walk(page)
  await way(walk)
  expect(walk.presses, `keys to ${task}`).toBeLessThanOrEqual(most)
}

/** Ten tasks without a pointer. */
export function tenTasks(): void {
  test('ten tasks by keys, each control with a role and a name', async ({ lab, open }) => {
    const of = async (subdomain: string, more = {}) => (await applied(lab, { subdomain, ...more })).host
    const page = await open('/', 'inside', TALL)
    const home = () => page.goto(lab.description.inside)

    await walked(page, 'expose', 16, async (walk) => {
      await walk.goTo('expose', /^Expose a service/)
      await page.getByRole('heading', { name: 'Expose a service' }).waitFor()
      await walk.into('Subdomain', 'ten-tasks')
      await walk.use('23', 'ArrowRight')
      await walk.into('Port', '3000')
      await walk.use('HTTPS, with a certificate for the name', 'Space')
      await walk.press('Enter')
      await walk.hears('can be exposed')
      await walk.use('Apply')
      await page.getByRole('dialog').waitFor()
      await walk.use('Apply ten-tasks.lab.test')
      await walk.hears('ten-tasks.lab.test is on the air')
    })

    await home()
    await using backend = await startWebBackend(lab, (_, response) => response.writeHead(200).end())
    const red = await of('ten-red', { port: backend.port, health: '/' })
    await backend[Symbol.asyncDispose]()
    await badgeOf(page, red, 'HTTP 502').waitFor()
    await walked(page, 'find why red', 2, async (walk) => {
      await walk.goTo('ten-red', /^Diagnose ten-red/)
      await page
        .getByRole('region', { name: `Diagnosis of ${red}` })
        .getByText(/^Nothing listens on/)
        .waitFor()
      await walk.hears(/Nothing listens on/)
    })

    const drifted = await of('ten-drift')
    await home()
    edit(lab, drifted)
    await walked(page, 'repair drift', 8, async (walk) => {
      await walk.goTo('ten-drift', /^Diagnose ten-drift/)
      await page.getByRole('button', { name: 'Overwrite and repair' }).waitFor()
      await walk.use('Overwrite and repair')
      await page.getByRole('dialog').waitFor()
      await walk.press('Tab')
      await walk.use('Overwrite and repair')
      await walk.hears(`${drifted} was repaired`)
    })

    await home()
    edit(lab, drifted)
    await walked(page, 'accept drift', 9, async (walk) => {
      await walk.goTo('ten-drift', /^Diagnose ten-drift/)
      await page.getByRole('button', { name: 'Accept' }).waitFor()
      await walk.use('Accept')
      await page.getByRole('dialog').waitFor()
      await walk.press('Tab')
      await walk.use('Accept')
      await walk.hears(`${drifted} was accepted as it stands`)
    })

    const host = await of('ten-acts', { tls: true, expiresIn: 3_600 })
    await home()
    await badgeOf(page, host, 'RUNNING').waitFor()
    await walked(page, 'extend', 5, async (walk) => {
      await walk.goTo('extend ten-acts', /^Extend ten-acts/)
      await page.getByRole('dialog').waitFor()
      await walk.use(`Extend ${host}`)
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await walk.hears('Extended.')
    })

    await home()
    await badgeOf(page, host, 'RUNNING').waitFor()
    await walked(page, 'mute', 6, async (walk) => {
      await walk.goTo('mute ten-acts', /^Mute ten-acts/)
      await page.getByRole('dialog').waitFor()
      await walk.use(`Mute ${host}`)
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await walk.hears(/Muted until/)
    })

    await home()
    await badgeOf(page, host, 'RUNNING').waitFor()
    await walked(page, 'maintenance', 5, async (walk) => {
      await walk.goTo('maint ten-acts', /^Maintenance of ten-acts/)
      await page.getByRole('dialog').waitFor()
      await walk.use(`Begin maintenance of ${host}`)
      await walk.hears(`${host} was changed`)
    })

    // Where its list is long, the keys must not go through it.
    await page.goto(`${lab.description.inside}/certificates`)
    await page.getByRole('listitem').filter({ hasText: host }).waitFor()
    await walked(page, 'renew', 6, async (walk) => {
      await walk.goTo('renew ten-acts', /^Renew ten-acts/)
      await page.getByRole('button', { name: 'Renew certificate' }).waitFor()
      await walk.use('Renew certificate')
      await page.getByRole('dialog').waitFor()
      await walk.press('Tab')
      await walk.use('Renew certificate')
      await walk.hears(`${host} has a new certificate`)
    })

    let isTouched = false
    await using broken = await startWebBackend(lab, (_, response) => {
      if (!isTouched) edit(lab, `ten-stuck.${lab.description.zone}`)
      isTouched = true
      response.writeHead(500).end()
    })
    const stuck = await planned(lab, { subdomain: 'ten-stuck', port: broken.port })
    await run(lab, stuck.planId)
    await home()
    await badgeOf(page, stuck.host, 'DOWN')
      .or(page.getByRole('link', { name: `diagnose ${stuck.host}` }))
      .first()
      .waitFor()
    await walked(page, 'resolve a blocked run', 5, async (walk) => {
      await walk.goTo('plan ten-stuck', /^Plan of ten-stuck/)
      await page.getByText(`${stuck.host} is blocked`).waitFor()
      await walk.use(/^Copy/)
      await walk.hears(/^Copied/)
    })
    const file = entryFile(lab.description.edges.primary, stuck.host)
    writeFileSync(file, readFileSync(file, 'utf8').replace(' # edited', ''))
    const resolved = await drawbridge(['resolve', stuck.planId, '--config', join(lab.state, 'drawbridge.yaml')])
    expect(resolved.code).toBe(0)

    await home()
    await badgeOf(page, host, 'RUNNING')
      .or(page.getByRole('link', { name: `diagnose ${host}` }))
      .first()
      .waitFor()
    await walked(page, 'remove', 3, async (walk) => {
      await walk.goTo('remove ten-acts', /^Remove ten-acts/)
      await page.getByRole('dialog').waitFor()
      await walk.into(`Type ${host} to confirm`, host)
      await walk.press('Enter')
      await walk.hears(`${host} is off the air`)
    })
  })
}
