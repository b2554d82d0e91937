import { readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'

const MOST_BYTES = 160_000

/** Measures the built scripts of the page, compressed as they are sent. */
export function weight(): void {
  test('the first load needs at most 160 kB of JavaScript, compressed', () => {
    const page = readFileSync('dist/web/index.html', 'utf8')
    const scripts = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, path]) => path)
    expect(scripts.length).toBeGreaterThan(0)
    const bytes = scripts.reduce((sum, path) => sum + statSync(`dist/web/${path}.gz`).size, 0)
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES)
  })
}
