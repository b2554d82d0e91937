import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pages } from './pages.ts'

const MOST_WORDS = 35_000
const MOST_LINES_OF_A_RELEASE = 10

/** What has a letter or a digit. The bars of tables are no words. */
const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /[a-z0-9]/i.test(word)).length

test('README.md and docs/ have at most 35,000 words', () => {
  const counted = pages().filter(({ path }) => path === 'README.md' || path.startsWith('docs/'))
  expect(wordsIn('| a | `b` | 1 |\n|---|---|---|')).toBe(3)
  expect(counted.reduce((sum, { text }) => sum + wordsIn(text), 0)).toBeLessThanOrEqual(MOST_WORDS)
})

test('CHANGELOG.md has at most ten lines of what is new in a release, and ten of what to do', () => {
  const [, ...parts] = readFileSync('CHANGELOG.md', 'utf8').split(/^### /m)
  const lines = parts.map((part) => part.match(/^- /gm)?.length ?? 0)
  expect(lines.length).toBeGreaterThan(1)
  expect(lines.filter((count) => count > MOST_LINES_OF_A_RELEASE)).toEqual([])
})
