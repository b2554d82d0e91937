import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { type PageSite, startPageSite } from '../support/programs/browser.ts'
import { access } from './access.ts'
import { connection } from './connection.ts'
import { crowd } from './crowd.ts'
import { gallery } from './gallery.ts'
import { keyboard } from './keyboard.ts'
import { outside } from './outside.ts'
import { refusals } from './refusals.ts'
import { story } from './story.ts'
import { weight } from './weight.ts'

/** The page in a real Chromium on a whole lab. One lab and one browser for all of it; nothing is played. */
let site: PageSite
const now = () => site

// A browser needs its time on a machine that has more to do.
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
outside(now)
refusals(now)
keyboard(now)
access(now)
connection(now)
gallery(now)
crowd(now)
