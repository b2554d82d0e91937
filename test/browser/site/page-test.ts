import { afterAll, test as base, beforeAll, expect, vi } from 'vitest'
import { startDemo } from '../../../lab/demo.ts'
import type { Stoppable } from '../../../lab/parts.ts'
import { startCannedPage } from '../../support/http/canned-page.ts'
import { type PageSite, startPageSite } from '../../support/programs/browser.ts'

let running: PageSite | undefined
let demo: Promise<Stoppable> | undefined

function site(): PageSite {
  if (!running) throw new Error('The lab has not started.')
  return running
}

/** Starts one lab and one Chromium for all tests of the file. */
export function oneSite(): void {
  // Tests run at the same time, and a browser is slow on a busy machine.
  vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })
  beforeAll(async () => {
    running = await startPageSite()
  })
  afterAll(async () => {
    await (await demo)?.stop()
    await running?.stop()
  })
}

/**
 * A test of the page. `open` opens it in contexts of its own on the shared lab. `demo` adds the hosts of the demonstration to
 * the lab. `canned` is a stand-in for the service, for tests that need a certain list of hosts or a lost connection.
 */
export const test = base
  .extend('lab', () => site().lab)
  .extend('browser', () => site().browser)
  .extend('demo', () => {
    demo ??= startDemo(site().lab.description)
    return demo
  })
  .extend('open', ({ lab: _lab }, { onCleanup }) => {
    const { open, leave } = site().visitor()
    onCleanup(async () => expect(await leave()).toEqual([]))
    return open
  })
  .extend('canned', async ({ task: _task }, { onCleanup }) => {
    const canned = await startCannedPage()
    onCleanup(() => canned[Symbol.asyncDispose]())
    return canned
  })
