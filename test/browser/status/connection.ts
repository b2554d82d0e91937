import type { Page } from 'playwright-core'
import type { Hosts } from '../../../src/client/index.ts'
import { type CannedPage, cannedRow } from '../../support/http/canned-page.ts'
import { test } from '../site/page-test.ts'
import { badgeOf, rowOf } from '../site/steps.ts'

const HOST = 'missed.lab.test'

/** The page reports a lost connection and reconnects automatically. */
export function connection(): void {
  test('a lost connection is reported, and missed changes are loaded, also after a restart of the service', async ({
    canned,
    open,
  }) => {
    const page = await open('/', canned.origin)
    await page.getByText('Nothing is exposed yet').waitFor()
    await page.context().setOffline(true)
    await page.getByText('Connection lost.').waitFor()
    canned.hosts = [cannedRow(HOST)]
    await page.context().setOffline(false)
    await page.getByText('Connected again.').waitFor()
    await badgeOf(page, HOST, 'RUNNING').waitFor()
    await page.getByText('Connected again.').waitFor({ state: 'detached' })
    canned.hosts = []
    canned.tell('gone', { host: HOST })
    await rowOf(page, HOST).waitFor({ state: 'detached' })

    // The same when it is the service that goes away.
    await canned.away()
    await page.getByText('Connection lost.').waitFor()
    canned.hosts = [cannedRow(HOST)]
    await canned.back()
    await page.getByText('Connected again.').waitFor()
    await badgeOf(page, HOST, 'RUNNING').waitFor()
  })

  test('a list that cannot be loaded is told on every screen that needs it, and comes by itself', async ({
    canned,
    open,
  }) => {
    canned.hosts = [cannedRow(HOST)]
    const page = await open('/help', canned.origin)
    for (const screen of ['network', 'certificates', `hosts/${HOST}/details`]) {
      await page.route('**/api/hosts?*', (route) => route.abort())
      await page.goto(`${canned.origin}/${screen}`)
      const told = page.getByText('The service cannot be reached')
      await told.waitFor()
      await page.unrouteAll()
      await told.waitFor({ state: 'detached' })
    }
  })

  test('no change is missed before the stream of changes opens, however late it does', async ({
    canned,
    expect,
    open,
  }) => {
    const show = (badge: 'RUNNING' | 'HTTP 502') => {
      canned.hosts = [cannedRow(HOST, { badge })]
    }
    const page = await open('/help', canned.origin)
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    const until = async (badge: 'RUNNING' | 'HTTP 502') =>
      expect
        .poll(async () => {
          // A stream that is silent for too long would be opened again, and the list loaded with it.
          await page.clock.runFor(10)
          return badgeOf(page, HOST, badge).count()
        })
        .toBe(1)

    // The stream opens soon: the list is asked for after that, and once.
    show('RUNNING')
    const soon = await load(page, canned)
    show('HTTP 502')
    soon.openStream()
    await soon.listRead
    // What is told while the list is on the way is newer than the list.
    canned.tell('row', cannedRow(HOST, { badge: 'RUNNING' }))
    canned.tell('edges', { edges: [OUT_OF_STEP] })
    await page.getByText('Updated 0 s ago').waitFor()
    await page.clock.runFor(LONG_MS)
    await page.getByText('Updated 2 s ago').waitFor()
    canned.tell('alive', { at: new Date().toISOString() })
    await page.getByText('Updated 0 s ago').waitFor()
    soon.answerList()
    await until('RUNNING')
    await page.getByText('Edge 73 is not in step').waitFor()
    expect(soon.lists()).toBe(1)

    // The list is shown before the stream opens.
    show('RUNNING')
    const late = await load(page, canned)
    late.answerList()
    await page.clock.runFor(LONG_MS)
    await until('RUNNING')
    show('HTTP 502')
    late.openStream()
    await until('HTTP 502')

    // The list was read before the stream opens, and arrives after that.
    show('RUNNING')
    const overtaken = await load(page, canned)
    await page.clock.runFor(LONG_MS)
    await overtaken.listRead
    show('HTTP 502')
    overtaken.openStream()
    await page.getByText(/^Updated /).waitFor()
    overtaken.answerList()
    await until('HTTP 502')
  })
}

/** Longer than the page waits for the stream before it loads the list without it. */
const LONG_MS = 2_000

const OUT_OF_STEP: NonNullable<Hosts['edges']>[number] = {
  server: '73',
  inStep: false,
  hosts: 0,
  unknown: 0,
  stray: [],
  outOfStep: { cause: 'away', since: '2026-01-31T12:00:00.000Z', detail: 'It does not answer.' },
}

interface Loaded {
  readonly openStream: () => void
  /** Resolves when the service has answered for the first time with the list. The answer waits for `answerList`. */
  readonly listRead: Promise<void>
  readonly answerList: () => void
  /** How often the page has asked for the list. */
  readonly lists: () => number
}

/** Loads the status screen while its stream of changes stays closed and its first list stays on the way. */
async function load(page: Page, canned: CannedPage): Promise<Loaded> {
  const asked = Promise.withResolvers<void>()
  const opening = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  const answering = Promise.withResolvers<void>()
  const before = canned.requests.length
  await page.unrouteAll()
  await page.route('**/api/hosts/changes', async (route) => {
    asked.resolve()
    await opening.promise
    await route.continue()
  })
  await page.route('**/api/hosts?*', async (route) => {
    const response = await route.fetch()
    read.resolve()
    await answering.promise
    await route.fulfill({ response })
  })
  await page.goto(`${canned.origin}/`)
  await asked.promise
  return {
    openStream: () => opening.resolve(),
    listRead: read.promise,
    answerList: () => answering.resolve(),
    lists: () => canned.requests.slice(before).filter((request) => request.startsWith('GET /api/hosts?')).length,
  }
}
