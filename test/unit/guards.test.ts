import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CUTS, GUARDS, occurrences, PAGE } from '../guards/guards.ts'
import { GUARDS as PROTOCOL_GUARDS } from '../world/protocol/guards.ts'

/** The table of guards is tied to the source. `npm run campaign -- guards` takes each of them out. */
test.each(GUARDS)('the guard "$name" is in the source once, and has a test', ({ file, from, to, test: path }) => {
  expect(occurrences(readFileSync(file, 'utf8'), from)).toBe(1)
  expect(to).not.toBe(from)
  expect(existsSync(path)).toBe(true)
})

test('the page has each guard once, and says how many there are', () => {
  expect(GUARDS.map(({ name }) => name)).toEqual(Object.keys(CUTS))
  expect(PAGE).toContain(`\n${GUARDS.length} guards.\n`)
  expect(PAGE.split('\n').filter((line) => line.startsWith('- '))).toEqual(
    PROTOCOL_GUARDS.map(({ name }) => `- ${name}`),
  )
})
