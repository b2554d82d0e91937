import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { type PageSite, startPageSite } from '../support/programs/browser.ts'
import { access } from './access.ts'
import { connection } from './connection.ts'
import { crowd } from './crowd.ts'
import { gallery } from './gallery.ts'
import { keyboard } from './keyboard.ts'
import { outside } from './outside.ts'
import { refusals } from './refusals.ts'
import { repairs } from './repairs.ts'
import { story } from './story.ts'
import { weight } from './weight.ts'

/** The page in a real Chromium on a whole lab, without fakes. All suites share one lab and one browser. */
let site: PageSite
const now = () => site

// A browser is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(async () => {
  site = await startPageSite()
})
afterEach(async () => {
  for (const context of site.browser.contexts()) await context.close()
  expect(site.complaints()).toEqual([])
})
afterAll(() => site?.stop())

weight()
story(now)
repairs(now)
outside(now)
refusals(now)
keyboard(now)
access(now)
connection(now)
gallery(now)
crowd(now)
