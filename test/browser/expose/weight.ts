import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDER = 'dist/web/assets'
const MOST_AT_FIRST = 110_000
const MOST = 160_000

/** The smallest files have no compressed copy. */
function bytesOf(names: readonly string[]): number {
  const sent = (name: string) => (existsSync(`${FOLDER}/${name}.gz`) ? `${FOLDER}/${name}.gz` : `${FOLDER}/${name}`)
  return names.reduce((sum, name) => sum + statSync(sent(name)).size, 0)
}

/** Measures the built scripts of the page, compressed as they are sent. */
export function weight(): void {
  test('the status screen needs at most 110 kB of JavaScript, and all screens together 160 kB', () => {
    const page = readFileSync('dist/web/index.html', 'utf8')
    const first = [...page.matchAll(/(?:src|href)="\/assets\/([^"]+\.js)"/g)].map(([, name = '']) => name)
    expect(first.length).toBeGreaterThan(0)
    expect(bytesOf(first)).toBeLessThanOrEqual(MOST_AT_FIRST)
    const all = readdirSync(FOLDER).filter((name) => name.endsWith('.js'))
    expect(all.length).toBeGreaterThan(first.length)
    expect(bytesOf(all)).toBeLessThanOrEqual(MOST)
  })
}
