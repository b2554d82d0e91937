import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERRORS } from '../../../src/model/errors.ts'

const documented = new Map(
  [...readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `([a-z_]+)` \| (\d{3})(?: \(\d{3}[^)]*\))? \|/gm)].map(
    ([, code = '', status]) => [code, Number(status)],
  ),
)

test.each(Object.entries(ERRORS))('docs/errors.md tells %s with its status', (code, { status }) =>
  expect(documented.get(code)).toBe(status),
)

test('docs/errors.md and the one table agree: nothing is documented that does not exist', () => {
  expect([...documented.keys()].filter((code) => !(code in ERRORS))).toEqual([])
  expect(documented.size).toBeGreaterThan(20)
})
