import { expect, test } from 'vitest'
import { addOwnHosts } from '../support/edge/foreign-hosts.ts'
import type { PageSite } from '../support/programs/browser.ts'
import { until } from '../support/until.ts'

const MANY = 1_000

/** Many hosts. `npm run bench -- reads` measures ten thousand. */
export function crowd(site: () => PageSite): void {
  test('a thousand hosts are drawn in parts, searched, filtered and scrolled', async () => {
    const { lab, open } = site()
    await addOwnHosts(lab, (edge) =>
      Array.from(
        { length: MANY },
        (_, at) => `server { listen ${edge}:8080; server_name h${at}.lab.test; return 204; }`,
      ).join('\n'),
    )
    await until(
      'all hosts are known',
      async () => (await lab.call({ path: '/api/hosts?limit=1' })).body.total >= MANY,
      30_000,
    )
    const page = await open('/')
    const table = page.getByRole('table', { name: 'Hosts' })
    await page.getByRole('button', { name: /^All 1,0\d\d$/ }).waitFor()
    await expect.poll(() => table.getAttribute('aria-rowcount').then(Number)).toBeGreaterThan(MANY)
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    await page.getByRole('searchbox').fill('h99')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('12')
    await page.getByRole('searchbox').fill('h9')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('112')
    await page.getByRole('columnheader', { name: 'Host' }).getByRole('button').click()
    await page.getByRole('searchbox').press('ArrowDown')
    await page.keyboard.press('End')
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toMatch(/h999\.lab\.test$/)
    await expect.poll(() => new URL(page.url()).search).toBe('?search=h9&sort=host')
  })
}
