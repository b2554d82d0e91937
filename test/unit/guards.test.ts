import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { occurrences } from '../guards/guard.ts'
import { ALL_GUARDS } from '../guards/guards.ts'
import { README, readme } from '../guards/readme.ts'

/** The table of guards is tied to the source. `npm run campaign -- guards` takes each of them out. */
test.each(ALL_GUARDS)('the guard "$name" is in the source once, and has a test', ({ file, from, to, test: path }) => {
  expect(occurrences(readFileSync(file, 'utf8'), from)).toBe(1)
  expect(to).not.toBe(from)
  expect(existsSync(path)).toBe(true)
})

test('each guard has a name of its own', () => {
  expect(new Set(ALL_GUARDS.map(({ name }) => name)).size).toBe(ALL_GUARDS.length)
})

test('the page of guards is the table', () => {
  expect(readFileSync(README, 'utf8')).toBe(readme())
})
