import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The words in backticks of a table's column, 0 being the first. */
function column(page: string, place: number): string[] {
  const rows = readFileSync(page, 'utf8').match(/^\| (?!---).*$/gm) ?? []
  return rows.flatMap((row) =>
    [...(row.split('|')[place + 1] ?? '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
  )
}

const missing = (names: readonly string[], candidates: (name: string) => readonly string[]): string[] =>
  names.filter((name) => !candidates(name).some((path) => existsSync(path)))

test('docs/conformance.md names code and tests that exist', () => {
  const code = column('docs/conformance.md', 1)
  const tests = column('docs/conformance.md', 2).filter((name) => name !== 'faults/*')
  expect([code.length > 20, tests.length > 20]).toEqual([true, true])
  expect(missing(code, (name) => [`src/${name}`, name])).toEqual([])
  expect(missing(tests, (name) => [`test/${name}.test.ts`])).toEqual([])
})

test('docs/threat-model.md names tests that exist', () => {
  const text = readFileSync('docs/threat-model.md', 'utf8')
  const attacks = text.slice(text.indexOf('## Attacks'), text.indexOf('## What holds'))
  const tests = [...attacks.matchAll(/\|([^|\n]*)\|\n/g)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([\w/-]+)`/g)].map(([, word = '']) => word),
  )
  expect(tests.length).toBeGreaterThan(20)
  expect(missing(tests, (name) => [`test/${name}.test.ts`, `test/security/${name}.test.ts`])).toEqual([])
})
