import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { type PageSite, startPageSite } from '../../support/programs/browser.ts'

/** The page in a real Chromium on a whole lab, without fakes. All suites of a file share one lab and one browser. */
export function oneSite(): () => PageSite {
  let site: PageSite | undefined
  // A browser is slow on a busy machine.
  vi.setConfig({ testTimeout: 120_000 })
  beforeAll(async () => {
    site = await startPageSite()
  })
  afterEach(async () => {
    for (const context of site?.browser.contexts() ?? []) await context.close()
    expect(site?.complaints()).toEqual([])
  })
  afterAll(() => site?.stop())
  return () => {
    if (!site) throw new Error('The lab has not started.')
    return site
  }
}
