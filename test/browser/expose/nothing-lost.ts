import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Run } from '../../../src/client/index.ts'
import { CANNED_PLAN } from '../../support/http/canned-page.ts'
import { planned, planOf, removed } from '../../support/lab/exposure.ts'
import { expectAccessible } from '../site/accessible.ts'
import { test } from '../site/page-test.ts'
import { askForPlan, fillPlan } from '../site/steps.ts'

type RunEvent = Run['events'][number]

const ORDERS = process.env.CAMPAIGN ? 200 : 10

/** No click, draft or run is lost. */
export function nothingLost(): void {
  test(`${ORDERS} random orders of clicks and typing lose no click`, async ({ open }) => {
    const page = await open('/plan', 'outside', { viewport: { width: 1280, height: 4400 } })
    await page.getByLabel('Subdomain').waitFor()
    await page.evaluate(() =>
      document.querySelector('form')?.addEventListener('submit', () => {
        document.body.dataset.submitted = String(Number(document.body.dataset.submitted ?? 0) + 1)
      }),
    )
    // Any request would make the form busy. An invalid draft is never sent.
    await page.route('**/api/deploy/plan', (route) => route.abort())
    // Nothing in the form may move, so every place is measured once.
    const placesNow = () =>
      page.evaluate(() => {
        const middle = (element: Element | null | undefined) => {
          const { x, y, width, height } = element?.getBoundingClientRect() ?? new DOMRect()
          return { x: x + width / 2, y: y + height / 2 }
        }
        return [...document.querySelectorAll<HTMLElement>('form input, form button[type=submit]')].flatMap(
          (control, at) =>
            control.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })
              ? { at, kind: control.getAttribute('type') ?? 'text', ...middle(control.closest('label') ?? control) }
              : [],
        )
      })
    const closed = await placesNow()
    await page.getByText('Options', { exact: true }).click()
    const opened = await placesNow()
    expect(opened.length).toBeGreaterThan(closed.length + 15)
    // The form stays open: an error in it opens it, and must not move anything either.
    const places = opened
    for (let order = 1; order <= ORDERS; order += 1) {
      const random = randomFrom(order)
      const done: string[] = []
      for (let step = 0; step < 4; step += 1) {
        const place = places[random(places.length)]
        if (!place) continue
        const { at } = place
        const before = await controlState(page, at)
        await page.mouse.click(place.x, place.y)
        const text = TEXTS[random(TEXTS.length)] ?? ''
        if (place.kind === 'text') await retype(page, text)
        done.push(`${place.kind} ${at}`)
        const effects: Record<string, string> = {
          text,
          radio: 'true',
          checkbox: before === 'true' ? 'false' : 'true',
          submit: String(Number(before) + 1),
        }
        expect({ order, done, state: await controlState(page, at) }).toEqual({
          order,
          done,
          state: effects[place.kind],
        })
      }
    }
  })

  test('options are typed, checked, kept and applied', async ({ lab, open }) => {
    const page = await open('/plan')
    await fillPlan(page, { subdomain: 'optional', port: 3000, tls: false })
    expect(await page.getByLabel('Largest request body').isVisible()).toBe(false)
    await page.getByText('Options, owner and note').focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Largest request body').fill('5 MB')
    await page.getByLabel('Owner').fill('web-team')
    await expectAccessible(page)
    await askForPlan(page)
    await page.getByText(/^This must be a number with k, m or g/).waitFor()
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe('true')
    await page.getByLabel('Largest request body').fill('5m')
    await page.getByLabel('Allowed networks').fill('127.0.0.0/8')
    await page.getByLabel('X-Frame-Options').selectOption('DENY')
    await page.getByLabel('Pass WebSocket on').uncheck()
    await page.setViewportSize({ width: 320, height: 800 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.reload()
    await page.getByText('Options, owner and note (4 set)').click()
    expect(await page.getByLabel('Allowed networks').inputValue()).toBe('127.0.0.0/8')
    await askForPlan(page)
    await page.getByText('optional.lab.test can be exposed.').waitFor()
    const planId = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    expect((await planOf(lab, planId)).request).toMatchObject({
      owner: 'web-team',
      options: {
        maxBody: '5m',
        websocket: false,
        headers: { frameOptions: 'DENY' },
        allow: ['127.0.0.0/8'],
      },
    })
    // What only the service can know is said in the form, too.
    await page.goBack()
    await page.getByText('Options, owner and note (4 set)').click()
    await page.getByLabel('Password file').fill('nobody-knows')
    await askForPlan(page)
    await page.getByRole('form').getByText('The configuration has no password file with the id nobody-knows.').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
  })

  test('Back and a reload keep the draft, and a plan has its own address', async ({ open }) => {
    const page = await open('/plan')
    await fillPlan(page, { subdomain: 'kept', server: '253', port: 3999, tls: false })
    await askForPlan(page)
    await page.getByText('Refused:').waitFor()
    await page.reload()
    expect(await page.getByLabel('Subdomain').inputValue()).toBe('kept')
    expect(await page.getByRole('radio', { name: '253' }).isChecked()).toBe(true)
    await fillPlan(page, { subdomain: 'kept', port: 3000, tls: false, health: '/healthz' })
    await askForPlan(page)
    await page.waitForURL(/\/plans\/plan_[0-9a-z]{26}$/)
    await page.goBack()
    expect(await page.getByLabel('Subdomain').inputValue()).toBe('kept')
    expect(await page.getByLabel('Port').inputValue()).toBe('3000')
    await page.getByRole('button', { name: 'Clear' }).click()
    expect(await page.getByLabel('Subdomain').inputValue()).toBe('')
    await page.goForward()
    await page.getByText('kept.lab.test can be exposed.').waitFor()
  })

  test('a reload in the middle of an apply shows the run, again and again until its end', async ({ canned, open }) => {
    const { planId, host } = CANNED_PLAN
    const startedAt = new Date().toISOString()
    let time = 0
    const event = (name: RunEvent['name'], step: string, more: Partial<RunEvent> = {}): RunEvent => {
      time += 1
      return { id: `run_1.${time}`, name, step, at: startedAt, ...more }
    }
    const begun = event('started', 'run')
    const done = [...CANNED_PLAN.steps].map((step) => [event('started', step), event('done', step)])
    const runIs = (state: Run['state'], events: readonly RunEvent[]) => {
      canned.run = events
      const finishedAt = state === 'running' ? null : startedAt
      const runs = [{ action: 'apply' as const, state, startedAt, finishedAt, events: [...events] }]
      canned.plan = { ...CANNED_PLAN, state: state === 'running' ? 'applying' : 'applied', runs }
    }
    const page = await open('/help', canned.origin)
    const run = page.getByRole('region', { name: 'Apply', exact: true })
    for (const [at, name] of ['Back up', 'Get the certificate', 'Verify'].entries()) {
      const before = [0, 1, 4][at] ?? 0
      runIs('running', [begun, ...done.slice(0, before + 1).flat(), ...(done[before + 1] ?? []).slice(0, 1)])
      await page.goto(`${canned.origin}/plans/${planId}`)
      await run.getByRole('listitem').filter({ hasText: 'Running' }).filter({ hasText: name }).waitFor()
    }
    runIs('succeeded', [begun, ...done.flat(), event('end', 'run', { state: 'applied' })])
    canned.tell('plan', { planId })
    await page.getByText(`${host} is on the air`).waitFor()
    expect(await run.getByRole('listitem').filter({ hasText: 'Done' }).count()).toBe(6)
  })

  test('another tab learns of the runs of others at once', async ({ lab, open }) => {
    const { planId, host } = await planned(lab, { subdomain: 'tabs' })
    const other = await open(`/plans/${planId}`)
    await other.getByRole('button', { name: 'Apply', exact: true }).waitFor()
    // Only the stream tells this tab: it does not ask again about a plan that is not under way.
    const page = await open(`/plans/${planId}`)
    await page.getByRole('button', { name: 'Apply', exact: true }).click()
    await page.getByRole('button', { name: `Apply ${host}` }).click()
    await page.getByText(`${host} is on the air`).waitFor()
    await other.getByText(`${host} is on the air`).waitFor()
    await removed(lab, planId)
    await other.getByText(`${host} is off the air`).waitFor()
    await page.getByText(`${host} is off the air`).waitFor()
  })
}

type Random = (below: number) => number

/** A small generator, so that a failed order can be repeated. */
function randomFrom(seed: number): Random {
  let state = seed * 2_654_435_761
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return state % below
  }
}

const TEXTS = ['', 'no_good', '-x', 'a.b', '81', '8045', '/a b', '/healthz'] as const

async function retype(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}

/** What a control says, as text. For the button: how often the form was submitted. */
const controlState = (page: Page, at: number): Promise<string> =>
  page.evaluate((index) => {
    const control = document.querySelectorAll('form input, form button[type=submit]')[index]
    if (!(control instanceof HTMLInputElement)) return document.body.dataset.submitted ?? '0'
    return control.type === 'radio' || control.type === 'checkbox' ? String(control.checked) : control.value
  }, at)
