import { chromium, type Page } from 'playwright-core'
import type { Lab } from '../lab/lab.ts'
import { addHosts, hostsKnown } from './many-hosts.ts'
import { formatMs, type Samples, summarize } from './measure.ts'

const HOSTS = 10_000
const LOADS = 5
const FILTERS = 40
const MOST_MS = { interactive: 1_000, filter: 100 }

/** Measures the status page with 10,000 hosts in a real browser: time until it is usable, and time to filter. */
export async function benchPage({ description: lab }: Lab): Promise<void> {
  addHosts(lab, HOSTS)
  await hostsKnown(lab, HOSTS)
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--no-first-run'],
  })
  try {
    // The measuring code is passed as text, which the content security policy of the page would refuse.
    const context = await browser.newContext({ bypassCSP: true, viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    const [drawn, interactive, filter]: [number[], number[], number[]] = [[], [], []]
    for (let load = 0; load < LOADS; load += 1) {
      await page.goto(lab.inside, { waitUntil: 'commit' })
      drawn.push(await whenTrue(page, `document.querySelectorAll('[role=row]').length > 10`))
      interactive.push(await whenTrue(page, `rowCount() > ${HOSTS}`))
    }
    for (let round = 0; round < FILTERS; round += 1)
      filter.push(await filterTook(page, round % 2 === 0 ? `h${round}` : ''))
    report(summarize(drawn), summarize(interactive), summarize(filter))
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

function report(drawn: Samples, interactive: Samples, filter: Samples): void {
  const line = (what: string, { p50, p95 }: Samples) =>
    process.stdout.write(`${what.padEnd(34)} p50 ${formatMs(p50).padStart(12)}   p95 ${formatMs(p95).padStart(12)}\n`)
  line('first rows on the screen', drawn)
  line(`all ${HOSTS} hosts listed, searchable`, interactive)
  line('filtered, from key to screen', filter)
  const isFast = interactive.p50 <= MOST_MS.interactive && filter.p50 <= MOST_MS.filter
  process.stdout.write(`\nTarget: at most ${MOST_MS.interactive} ms and ${MOST_MS.filter} ms.\n`)
  process.exitCode = isFast ? 0 : 1
}
