import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NamedFile } from '../../../src/runtime/named-file.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** No user of the machine has this number. */
const OWNER = 54_321

let folder: ReturnType<typeof tempFolder>
const at = (...names: string[]) => join(folder.path, ...names)

beforeEach(() => {
  folder = tempFolder()
  mkdirSync(at('theirs'))
  chownSync(at('theirs'), OWNER, OWNER)
  writeFileSync(at('secret'), 'kept', { mode: 0o600 })
})
afterEach(() => folder[Symbol.dispose]())

describe.runIf(process.getuid?.() === 0)('a file that root names (THREATS row 35)', () => {
  test('is made by root where nobody else could exchange it', async () => {
    const file = new NamedFile(at('new'))
    await file.createAsRoot()
    await file.create('text')
    expect([readFileSync(at('new'), 'utf8'), statSync(at('new')).mode & 0o777]).toEqual(['text', 0o600])
  })

  test('is left to the user whose folder it is in', async () => {
    symlinkSync(folder.path, at('theirs', 'link'))
    for (const path of [at('theirs', 'new'), at('theirs', 'link', 'new'), at('theirs', 'link', 'secret')]) {
      const file = new NamedFile(path)
      await file.createAsRoot()
      expect(file.created).toBeUndefined()
    }
    expect(statSync(at('new'), { throwIfNoEntry: false })).toBeUndefined()
  })

  test('is made again where a failed command left an empty one, and never overwritten', async () => {
    const again = new NamedFile(at('empty'))
    writeFileSync(at('empty'), '')
    await again.createAsRoot()
    await again.finish()
    symlinkSync(at('empty'), at('link'))
    for (const name of ['secret', 'link', 'theirs'])
      await expect(new NamedFile(at(name)).createAsRoot()).rejects.toThrow('exists already')
    chmodSync(at('empty'), 0o644)
    chownSync(at('empty'), OWNER, OWNER)
    await expect(new NamedFile(at('empty')).createAsRoot()).rejects.toThrow('exists already')
    expect(readFileSync(at('secret'), 'utf8')).toBe('kept')
  })
})
