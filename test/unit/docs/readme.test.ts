import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const text = readFileSync('README.md', 'utf8')
const FIRST_SCREEN = 20
const LONGEST = 75

test('README.md has two commands and a picture on its first screen, and is short', () => {
  const lines = text.split('\n')
  expect(lines.length).toBeLessThanOrEqual(LONGEST)
  const screen = lines.slice(0, FIRST_SCREEN).join('\n')
  const [, commands = ''] = /```sh\n([\s\S]+?)```/.exec(screen) ?? []
  expect(commands.trim().split('\n')).toHaveLength(2)
  expect(screen).toMatch(/!\[.+\]\(.+\)/)
})

test('the npm scripts that the documents name exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const pages = [text, readFileSync('CONTRIBUTING.md', 'utf8')].join('\n')
  const named = [...pages.matchAll(/npm run ([\w-]+)/g)].map(([, name = '']) => name)
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})
