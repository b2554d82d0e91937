import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FileHash } from '../../../src/edge/contract.ts'
import { hashFile } from '../../../src/edge/files/files.ts'
import { replaceFiles } from '../../../src/edge/files/replace.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const PATH = 'hosts/shop.lab.test.conf'
let folder: ReturnType<typeof tempFolder>
const place = () => join(folder.path, PATH)

beforeEach(() => {
  folder = tempFolder()
  for (const name of ['hosts', '.staging']) mkdirSync(join(folder.path, name))
  writeFileSync(place(), 'as applied')
})
afterEach(() => folder[Symbol.dispose]())

/** What was seen, with `edit` coming in after the last look that is taken before anything is touched. */
const followedBy = (seen: FileHash, edit: () => void): FileHash[] =>
  Object.assign([seen], {
    some: (holds: (file: FileHash) => boolean) => {
      edit()
      return holds(seen)
    },
  })

test('a file that is edited while it is taken away is put back, and none stays aside', async () => {
  const seen = await hashFile(folder.path, PATH)
  const expected = followedBy(seen, () => writeFileSync(place(), 'by hand'))
  const change = { files: [{ path: PATH, content: null, secret: false }], expected }
  await expect(replaceFiles(folder.path, change)).rejects.toMatchObject({ kind: 'changed_meanwhile' })
  expect(readFileSync(place(), 'utf8')).toBe('by hand')
  expect(readdirSync(join(folder.path, '.staging'))).toEqual([])
})
