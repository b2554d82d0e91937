import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const text = readFileSync('README.md', 'utf8')
const [, map = ''] = /^## The house\n\n```\n([\s\S]+?)```/m.exec(text) ?? []
const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

test('README.md is shorter than 150 lines', () => {
  expect(text.split('\n').length).toBeLessThan(151)
})

test('its map names every folder of src/, each with a line, and no other', () => {
  const rooms = [...map.matchAll(/^ {2}(\w+)\/ +\S/gm)].map(([, name = '']) => name)
  expect(rooms.toSorted()).toEqual(foldersIn('src').toSorted())
})

test('its map names the folders beside src/', () => {
  const named = [...map.matchAll(/(?:^|\s{3,})(\w+)\//gm)].map(([, name]) => name)
  for (const folder of ['bin', 'web', 'lab', 'network', 'bench', 'docs', 'test']) expect(named).toContain(folder)
})

test('the npm scripts that the documents name exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const pages = [text, readFileSync('CONTRIBUTING.md', 'utf8')].join('\n')
  const named = [...pages.matchAll(/npm run ([\w-]+)/g)].map(([, name = '']) => name)
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})
