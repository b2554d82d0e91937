import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applied, removed } from '../../support/lab/exposure.ts'
import type { PageSite } from '../../support/programs/browser.ts'
import { expectAccessible } from '../site/accessible.ts'
import { badgeOf, makePlan, SEEN_WITHIN } from '../site/steps.ts'

const WIDTHS = [320, 768, 1280, 3840]

/** Automatic accessibility checks. */
export function access(site: () => PageSite): void {
  describe('no page has an accessibility fault in light or dark, and no control is named by its placeholder', () => {
    let plan: { planId: string; host: string }
    beforeAll(async () => {
      plan = await applied(site().lab, { subdomain: 'seen' })
    })
    afterAll(() => removed(site().lab, plan.planId))

    test('status', async () => {
      const page = await site().open('/')
      await badgeOf(page, plan.host, 'RUNNING').waitFor(SEEN_WITHIN)
      await expectAccessible(page)
    })

    test('diagnosis', async () => {
      const page = await site().open(`/hosts/${plan.host}`)
      await page.getByText('Nothing needs to be done.').waitFor(SEEN_WITHIN)
      await expectAccessible(page)
    })

    test('a plan and its removal', async () => {
      const page = await site().open(`/plans/${plan.planId}`)
      await page.getByText('is on the air').waitFor()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Remove…' }).click()
      await page.getByRole('dialog').waitFor()
      await expectAccessible(page)
    })

    test('history', async () => {
      const page = await site().open('/plans')
      await page.getByRole('link', { name: plan.host }).first().waitFor()
      await expectAccessible(page)
    })

    test('help', async () => {
      const page = await site().open('/help', 'outside')
      await page.getByRole('region', { name: 'Allowed here' }).waitFor()
      await expectAccessible(page)
    })

    test('planning', async () => {
      const page = await site().open('/plan')
      await page.getByLabel('Subdomain').waitFor()
      await expectAccessible(page)
      await makePlan(page, { subdomain: 'shown', port: 3000 })
      await expectAccessible(page)
    })
  })

  test('no page scrolls sideways at any screen width', async () => {
    const { lab, open } = site()
    const { planId, host } = await applied(lab, {
      subdomain: 'a-name-that-is-longer-than-any-telephone-is-wide-upright',
    })
    const page = await open('/')
    await badgeOf(page, host, 'RUNNING').waitFor(SEEN_WITHIN)
    for (const path of [
      '/',
      `/hosts/${host}`,
      `/hosts/${host}/details`,
      '/network',
      '/certificates',
      '/activity',
      '/plan',
      '/plans',
      `/plans/${planId}`,
      '/help',
    ]) {
      await page.goto(`${lab.description.inside}${path}`)
      await page.getByRole('heading').first().waitFor()
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: width > 2000 ? 2160 : 800 })
        const wide = await page.evaluate(() => document.documentElement.scrollWidth)
        expect({ path, width, wide }).toEqual({ path, width, wide: width })
      }
    }
    await removed(lab, planId)
  })

  test('a diagnosis fits on one printed page', async () => {
    const { lab, open } = site()
    const { planId, host } = await applied(lab, { subdomain: 'paper' })
    const page = await open(`/hosts/${host}`)
    await page.getByText('From name to backend').waitFor(SEEN_WITHIN)
    const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type ?\/Page\b/g)
    expect(pages).toHaveLength(1)
    await removed(lab, planId)
  })

  test('no screen is printed with toolbar or controls', async () => {
    const { lab, open } = site()
    const { planId, host } = await applied(lab, { subdomain: 'printed' })
    const page = await open('/')
    await badgeOf(page, host, 'RUNNING').waitFor(SEEN_WITHIN)
    await page.emulateMedia({ media: 'print' })
    for (const path of ['/', `/hosts/${host}/details`, '/network', '/certificates', '/activity', '/plans']) {
      await page.goto(`${lab.description.inside}${path}`)
      await page.getByRole('heading').first().waitFor()
      if (path !== '/certificates') await page.getByText(host).first().waitFor(SEEN_WITHIN)
      const shown = await page.evaluate(() =>
        [...document.querySelectorAll('nav, input, select, textarea, fieldset')]
          .filter((element) => element.checkVisibility())
          .map((element) => element.outerHTML.slice(0, 120)),
      )
      expect({ path, shown }).toEqual({ path, shown: [] })
    }
    await removed(lab, planId)
  })

  test('copying works without the clipboard API', async () => {
    const { lab, open } = site()
    const { planId, host } = await applied(lab, { subdomain: 'copied' })
    const page = await open(`/hosts/${host}`, 'plainly')
    expect(await page.evaluate(() => navigator.clipboard === undefined)).toBe(true)
    await page.getByRole('button', { name: 'Copy listen' }).click()
    await page.getByText('Copied listen').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.press('Control+V')
    expect(await page.getByRole('searchbox').inputValue()).toMatch(/:8080/)
    await removed(lab, planId)
  })
}
