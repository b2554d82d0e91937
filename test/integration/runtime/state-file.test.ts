import { execFileSync } from 'node:child_process'
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { beforeEach, expect, test } from 'vitest'
import { prepareStateFile, readStateFile, writeStateFile } from '../../../src/runtime/state-file.ts'
import { freshFolder } from '../../support/fresh.ts'

const at = freshFolder()

beforeEach(() => {
  writeFileSync(at('elsewhere'), 'kept', { mode: 0o644 })
})

/** What the user of a state folder can put in the place of a file. */
const TRAPS: Readonly<Record<string, (path: string) => void>> = {
  'a link': (path) => symlinkSync(at('elsewhere'), path),
  'a link to nothing': (path) => symlinkSync(at('nothing'), path),
  'a pipe': (path) => void execFileSync('mkfifo', [path]),
  'a second name of a file': (path) => linkSync(at('elsewhere'), path),
  'a folder': (path) => mkdirSync(path),
}

test.each(Object.keys(TRAPS))('%s is neither read, written nor changed (THREATS row 35)', (trap) => {
  const path = at('instance.json')
  TRAPS[trap]?.(path)
  for (const use of [() => readStateFile(path), () => writeStateFile(path, 'x'), () => prepareStateFile(path)])
    expect(use).toThrow()
  expect([readFileSync(at('elsewhere'), 'utf8'), statSync(at('elsewhere')).mode & 0o777]).toEqual(['kept', 0o644])
  expect(statSync(at('nothing'), { throwIfNoEntry: false })).toBeUndefined()
})

test('a huge file is not read', () => {
  writeFileSync(at('huge'), '')
  truncateSync(at('huge'), 2 ** 40)
  expect(() => readStateFile(at('huge'))).toThrow('too large')
})

test('a file is replaced as a whole: who has opened the former one still reads all of it', () => {
  const path = at('instance.json')
  writeFileSync(path, 'former', { mode: 0o644 })
  const file = openSync(path, 'r')
  writeStateFile(path, 'new')
  expect(readFileSync(file, 'utf8')).toBe('former')
  closeSync(file)
  expect([readStateFile(path), statSync(path).mode & 0o777, readdirSync(at()).toSorted()]).toEqual([
    'new',
    0o600,
    ['elsewhere', 'instance.json'],
  ])
})
