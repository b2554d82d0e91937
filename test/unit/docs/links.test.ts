import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pages } from './pages.ts'

/** Pages that tell of the past: what they name may be gone. */
const ABOUT_THE_PAST = ['CHANGELOG.md']

/** `[text](target)` and `![text](target)` that lead into this project. */
const relativeLinks = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target))

/** The anchors that Markdown makes of a page's headings. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

function isBroken(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? page : normalize(join(dirname(page), file))
  if (!existsSync(target)) return true
  return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor)
}

/** Paths of this project that a page names, such as `src/plan/plan.ts` or `test/faults/`. Patterns and placeholders are left out. */
const namedPaths = (text: string): string[] =>
  [...text.matchAll(/(?<![\w./-])(?:src|test|bin|lab|bench|web|docs)\/[\w./*<>{}-]*/g)]
    .map(([path]) => path.replace(/[.-]+$/, ''))
    .filter((path) => !/[*<>{}]/.test(path))

/** Rooms and files of src/, named without it: `plan/plan.ts`. */
const namedSources = (text: string): string[] =>
  [...text.matchAll(/`((?:[a-z0-9-]+\/)+[\w.-]+\.ts)`/g)].map(([, path = '']) => path)

describe.each(pages())('$path', ({ path, text }) => {
  test('its links lead somewhere', () => expect(relativeLinks(text).filter((link) => isBroken(path, link))).toEqual([]))

  test.skipIf(ABOUT_THE_PAST.includes(path))('the files that it names exist', () => {
    expect(namedPaths(text).filter((named) => !existsSync(named))).toEqual([])
    expect(namedSources(text).filter((named) => !existsSync(named) && !existsSync(`src/${named}`))).toEqual([])
  })
})

test('a broken link and a missing file are found', () => {
  expect(isBroken('docs/errors.md', 'nowhere.md')).toBe(true)
  expect(isBroken('docs/errors.md', 'events.md#nowhere')).toBe(true)
  expect(isBroken('docs/errors.md', 'events.md#the-stream')).toBe(false)
  expect(namedPaths('see `src/nowhere.ts`, and test/real/apply/.')).toEqual(['src/nowhere.ts', 'test/real/apply/'])
  expect(namedSources('`plan/nowhere.ts`')).toEqual(['plan/nowhere.ts'])
})
