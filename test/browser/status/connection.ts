import { cannedRow } from '../../support/http/canned-page.ts'
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
}
