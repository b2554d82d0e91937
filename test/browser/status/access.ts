import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applied, removed } from '../../support/lab/exposure.ts'
import type { PageSite } from '../../support/programs/browser.ts'
import { expectAccessible } from '../site/accessible.ts'
import { badgeOf, makePlan, SEEN_WITHIN } from '../site/steps.ts'

const WIDTHS = [320, 768, 1280, 3840]
const NAME = 'a-name-that-is-longer-than-any-telephone-is-wide-upright'
const HOST = `${NAME}.lab.test`

interface Screen {
  readonly path: (planId: string) => string
  /** Resolves when the screen shows what it has to show. */
  readonly ready: (page: Page) => Promise<unknown>
  /** Printed without toolbar and controls. */
  readonly isPrinted?: boolean
  readonly isPublic?: boolean
}

const named = (page: Page) => page.getByText(HOST).first().waitFor(SEEN_WITHIN)

const SCREENS: Readonly<Record<string, Screen>> = {
  status: {
    path: () => '/',
    ready: (page) => badgeOf(page, HOST, 'RUNNING').waitFor(SEEN_WITHIN),
    isPrinted: true,
  },
  diagnosis: {
    path: () => `/hosts/${HOST}`,
    ready: (page) => page.getByText('Nothing needs to be done.').waitFor(SEEN_WITHIN),
  },
  host: { path: () => `/hosts/${HOST}/details`, ready: named, isPrinted: true },
  network: { path: () => '/network', ready: named, isPrinted: true },
  certificates: {
    path: () => '/certificates',
    ready: (page) => page.getByText('No host serves a certificate yet').waitFor(SEEN_WITHIN),
    isPrinted: true,
  },
  activity: { path: () => '/activity', ready: named, isPrinted: true },
  form: { path: () => '/plan', ready: (page) => page.getByLabel('Subdomain').waitFor() },
  history: { path: () => '/plans', ready: named, isPrinted: true },
  plan: { path: (planId) => `/plans/${planId}`, ready: (page) => page.getByText('is on the air').waitFor() },
  help: {
    path: () => '/help',
    ready: (page) => page.getByRole('region', { name: 'Allowed here' }).waitFor(),
    isPublic: true,
  },
}

/** What holds for every screen. Each is loaded once and checked in every way. */
export function access(site: () => PageSite): void {
  describe('with one exposure', () => {
    let planId = ''
    beforeAll(async () => {
      planId = (await applied(site().lab, { subdomain: NAME })).planId
    })
    afterAll(() => removed(site().lab, planId))

    test.each(Object.entries(SCREENS))(
      'the screen %s has no accessibility fault, does not scroll sideways, and is printed without controls',
      async (name, { path, ready, isPrinted = false, isPublic = false }) => {
        const page = await site().open(path(planId), isPublic ? 'outside' : 'inside')
        await ready(page)
        await expectAccessible(page)
        await expectNoSidewaysScroll(page)
        if (isPrinted) await expectPrintedWithoutControls(page)
        if (name !== 'plan') return
        await page.getByRole('button', { name: 'Remove…' }).click()
        await page.getByRole('dialog').waitFor()
        await expectAccessible(page)
      },
    )

    test('a plan that was made has no accessibility fault', async () => {
      const page = await site().open('/plan', 'outside')
      await makePlan(page, { subdomain: 'shown', port: 3000 })
      await expectAccessible(page)
    })

    test('a diagnosis fits on one printed page', async () => {
      const page = await site().open(`/hosts/${HOST}`)
      await page.getByText('From name to backend').waitFor(SEEN_WITHIN)
      const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type ?\/Page\b/g)
      expect(pages).toHaveLength(1)
    })

    test('copying works without the clipboard API', async () => {
      const page = await site().open(`/hosts/${HOST}`, 'plainly')
      expect(await page.evaluate(() => navigator.clipboard === undefined)).toBe(true)
      await page.getByRole('button', { name: 'Copy listen' }).click()
      await page.getByText('Copied listen').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.press('Control+V')
      expect(await page.getByRole('searchbox').inputValue()).toMatch(/:8080/)
    })
  })
}

async function expectNoSidewaysScroll(page: Page): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: width > 2000 ? 2160 : 800 })
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect({ width, wide }).toEqual({ width, wide: width })
  }
  await page.setViewportSize({ width: 1280, height: 800 })
}

async function expectPrintedWithoutControls(page: Page): Promise<void> {
  await page.emulateMedia({ media: 'print' })
  const shown = await page.evaluate(() =>
    [...document.querySelectorAll('nav, input, select, textarea, fieldset')]
      .filter((element) => element.checkVisibility())
      .map((element) => element.outerHTML.slice(0, 120)),
  )
  expect(shown).toEqual([])
}
