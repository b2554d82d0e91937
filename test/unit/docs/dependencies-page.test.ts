import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('docs/dependencies.md and package.json name the same packages', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
  const used = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  const rows = readFileSync('docs/dependencies.md', 'utf8').match(/^\| .*$/gm) ?? []
  const inPackageColumn = rows.flatMap((row) =>
    [...(row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  )
  expect(inPackageColumn.toSorted()).toEqual(used.toSorted())
})
