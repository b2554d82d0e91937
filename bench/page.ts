import { chromium, type Page } from 'playwright-core'
import type { LabDescription } from '../lab/description.ts'
import { programOf } from './programs.ts'
import type { Sizes } from './sizes.ts'
import { note, type Row, row } from './table.ts'

const LOADS = 3
const MOST_MS = { listed: 1_000, filter: 100 }

/** The status page with many hosts in a real browser: time until it is usable, and time to filter. */
export async function pageRows({ inside }: LabDescription, { hosts, filters }: Sizes['reads']): Promise<Row[]> {
  const executablePath = programOf('chromium')
  if (executablePath === undefined) return [note('the web page', 'not measured: chromium is not installed')]
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--no-first-run'] })
  try {
    // The measuring code is passed as text, which the content security policy of the page would refuse.
    const context = await browser.newContext({ bypassCSP: true, viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    const [drawn, listed, filter]: [number[], number[], number[]] = [[], [], []]
    for (let load = 0; load < LOADS; load += 1) {
      await page.goto(inside, { waitUntil: 'commit' })
      drawn.push(await whenTrue(page, `document.querySelectorAll('[role=row]').length > 10`))
      listed.push(await whenTrue(page, `rowCount() > ${hosts}`))
    }
    for (let round = 0; round < filters; round += 1)
      filter.push(await filterTook(page, round % 2 === 0 ? `h${round + 1}` : ''))
    return [
      row('the web page: first rows on the screen', 'ms', drawn),
      row(`the web page: all ${hosts} hosts listed and searchable`, 'ms', listed, { most: MOST_MS.listed }),
      row('the web page: filtered, from key to screen', 'ms', filter, { most: MOST_MS.filter }),
    ]
  } finally {
    await browser.close()
  }
}

const ROW_COUNT = `const rowCount = () => Number(document.querySelector('[role=table]')?.getAttribute('aria-rowcount') ?? 0)`

/** Milliseconds from the request of the page, by its own clock, until `holds` is true and drawn. */
const whenTrue = (page: Page, holds: string): Promise<number> =>
  page.evaluate<number>(`new Promise((done) => {
    ${ROW_COUNT}
    const check = () => (${holds}) ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(check)
    check()
  })`)

/** Milliseconds from the key press until the filtered list is drawn. */
const filterTook = (page: Page, search: string): Promise<number> =>
  page.evaluate<number>(`new Promise((done) => {
    ${ROW_COUNT}
    const field = document.querySelector('[type=search]')
    const before = rowCount()
    const started = performance.now()
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, ${JSON.stringify(search)})
    field.dispatchEvent(new Event('input', { bubbles: true }))
    const check = () => rowCount() !== before
      ? requestAnimationFrame(() => done(performance.now() - started)) : requestAnimationFrame(check)
    check()
  })`)
