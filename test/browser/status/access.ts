import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { applied } from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { ALL_LOOKS, expectAccessible, type Look, lookAt, USUAL_LOOKS } from '../site/accessible.ts'
import { test } from '../site/page-test.ts'
import { badgeOf, goTo } from '../site/steps.ts'

const NAME = 'a-name-that-is-longer-than-any-telephone-is-wide-upright'
const HOST = `${NAME}.lab.test`

interface Screen {
  readonly path: (planId: string) => string
  /** Resolves when the screen shows what it has to show. */
  readonly ready: (page: Page) => Promise<unknown>
  /** Printed without toolbar and controls. */
  readonly isPrinted?: boolean
}

const named = (page: Page) => page.getByText(HOST).first().waitFor()

const SCREENS: readonly Screen[] = [
  {
    path: () => `/?search=${NAME}`,
    ready: (page) => badgeOf(page, HOST, 'RUNNING').waitFor(),
    isPrinted: true,
  },
  {
    path: () => `/hosts/${HOST}?search=${NAME}`,
    ready: (page) => page.getByText('Nothing needs to be done.').waitFor(),
  },
  { path: () => `/hosts/${HOST}/details`, ready: named, isPrinted: true },
  { path: () => '/network', ready: named, isPrinted: true },
  {
    path: () => '/certificates',
    ready: (page) => page.getByRole('list', { name: 'Certificates' }).getByRole('link').first().waitFor(),
    isPrinted: true,
  },
  { path: () => `/activity?search=${NAME}`, ready: named, isPrinted: true },
  { path: () => '/plan', ready: (page) => page.getByLabel('Subdomain').waitFor() },
  { path: () => '/plans', ready: named, isPrinted: true },
  { path: (planId) => `/plans/${planId}`, ready: (page) => page.getByText('is on the air').waitFor() },
  {
    path: () => '/help',
    ready: (page) => page.getByRole('region', { name: 'Allowed here' }).waitFor(),
  },
]

/** The plan of the host with the long name. All tests share it. */
let planId: Promise<string> | undefined
const longNamed = (lab: TestLab): Promise<string> => {
  planId ??= applied(lab, { subdomain: NAME, tls: true }).then((answer) => answer.planId)
  return planId
}

/** What holds for every screen, at one width for each theme. */
export function access(): void {
  everyScreen(USUAL_LOOKS)

  test('a diagnosis fits on one printed page', async ({ lab, open }) => {
    await longNamed(lab)
    const page = await open(`/hosts/${HOST}`)
    await page.getByText('From name to backend').waitFor()
    const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type ?\/Page\b/g)
    expect(pages).toHaveLength(1)
  })

  test('copying works without the clipboard API', async ({ lab, open }) => {
    await longNamed(lab)
    const page = await open(`/hosts/${HOST}`, 'plainly')
    expect(await page.evaluate(() => navigator.clipboard === undefined)).toBe(true)
    await page.getByRole('button', { name: 'Copy listen' }).click()
    await page.getByText('Copied listen').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.press('Control+V')
    expect(await page.getByRole('searchbox').inputValue()).toMatch(/:8443/)
  })
}

/** Every screen at every width in every theme. */
export const accessInFull = (): void => everyScreen(ALL_LOOKS)

function everyScreen(looks: readonly Look[]): void {
  test('no screen has an accessibility fault, scrolls sideways or is printed with controls', async ({ lab, open }) => {
    const planId = await longNamed(lab)
    const page = await open('/plan')
    for (const { path, ready, isPrinted = false } of SCREENS) {
      await goTo(page, path(planId))
      await ready(page)
      for (const look of looks) await expectNoSidewaysScroll(page, look)
      await expectAccessible(page, looks)
      if (isPrinted) await expectPrintedWithoutControls(page)
    }
    await goTo(page, `/plans/${planId}`)
    await page.getByRole('button', { name: 'Remove…' }).click()
    await page.getByRole('dialog').waitFor()
    await expectAccessible(page, looks)
  })
}

async function expectNoSidewaysScroll(page: Page, look: Look): Promise<void> {
  await lookAt(page, look)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  expect({ url: page.url(), wide }).toEqual({ url: page.url(), wide: look.width })
}

async function expectPrintedWithoutControls(page: Page): Promise<void> {
  await page.emulateMedia({ media: 'print' })
  const shown = await page.evaluate(() =>
    [...document.querySelectorAll('nav, input, select, textarea, fieldset')]
      .filter((element) => element.checkVisibility())
      .map((element) => element.outerHTML.slice(0, 120)),
  )
  expect({ url: page.url(), shown }).toEqual({ url: page.url(), shown: [] })
  await page.emulateMedia({ media: 'screen' })
}
