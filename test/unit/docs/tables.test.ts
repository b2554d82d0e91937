import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BADGE_GRAMMAR } from '../../../src/model/badge.ts'
import { EVENT_TYPES } from '../../../src/model/event.ts'
import { ERROR_CLASSES } from '../../../src/model/evidence.ts'

/** The words in backticks in the first column of a page's tables. */
const firstColumn = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^\|([^|]+)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
  )

test('docs/events.md has every event type and no other', () =>
  expect(firstColumn('docs/events.md').toSorted()).toEqual(EVENT_TYPES.toSorted()))

test('docs/status.md has every badge', () => {
  const badges = BADGE_GRAMMAR.replace(/^\(\?:|\)$/g, '')
    .split('|')
    .map((badge) => badge.replace('[0-9]{3}', 'nnn'))
  expect(badges.length).toBeGreaterThan(5)
  expect(firstColumn('docs/status.md')).toEqual(expect.arrayContaining(badges))
})

test('docs/status.md has every metric of ours and no other', () => {
  const source = readFileSync('src/metrics/metrics.ts', 'utf8')
  const gauges = readFileSync('src/metrics/operation-gauges.ts', 'utf8')
  const exported = [
    ...[...source.matchAll(/name: '(drawbridge_\w+)'/g)].map(([, name = '']) => name),
    ...[...gauges.matchAll(/gauge\(\s*'(\w+)'/g)].map(([, name]) => `drawbridge_${name}`),
  ]
  const documented = firstColumn('docs/status.md').filter((word) => word.startsWith('drawbridge_'))
  expect(documented.map((word) => word.replace(/\{.*$/, '')).toSorted()).toEqual(exported.toSorted())
})

test('docs/reading-nginx.md has every class of error lines and no other', () => {
  expect(ERROR_CLASSES.length).toBeGreaterThan(10)
  expect(firstColumn('docs/reading-nginx.md').toSorted()).toEqual(ERROR_CLASSES.toSorted())
})
