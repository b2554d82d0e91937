import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { openBackup } from '../../../src/operate/keep/backup-file.ts'
import { NamedFile } from '../../../src/runtime/named-file.ts'
import { freshFolder } from '../../support/fresh.ts'

/** No user of the machine has this number. */
const OWNER = 54_321

const at = freshFolder()

beforeEach(() => {
  mkdirSync(at('theirs'))
  chownSync(at('theirs'), OWNER, OWNER)
  writeFileSync(at('secret'), 'kept', { mode: 0o600 })
})

describe.runIf(process.getuid?.() === 0)('a file that root names (THREATS row 35)', () => {
  test('is made by root where nobody else could exchange it', async () => {
    const file = new NamedFile(at('new'))
    await file.createAsRoot()
    await file.create('text')
    expect([readFileSync(at('new'), 'utf8'), statSync(at('new')).mode & 0o777]).toEqual(['text', 0o600])
  })

  test('is left to the user whose folder it is in', async () => {
    symlinkSync(at(), at('theirs', 'link'))
    for (const path of [at('theirs', 'new'), at('theirs', 'link', 'new'), at('theirs', 'link', 'secret')]) {
      const file = new NamedFile(path)
      await file.createAsRoot()
      expect(file.created).toBeUndefined()
    }
    expect(statSync(at('new'), { throwIfNoEntry: false })).toBeUndefined()
  })

  test('is made again where a failed command left an empty one, and never overwritten', async () => {
    const again = new NamedFile(at('empty'))
    writeFileSync(at('empty'), '', { mode: 0o600 })
    await again.createAsRoot()
    await again.finish()
    symlinkSync(at('empty'), at('link'))
    for (const name of ['secret', 'link', 'theirs'])
      await expect(new NamedFile(at(name)).createAsRoot()).rejects.toThrow('exists already')
    // Others may have it open, and would read what is written to it.
    chmodSync(at('empty'), 0o644)
    await expect(new NamedFile(at('empty')).createAsRoot()).rejects.toThrow('exists already')
    chmodSync(at('empty'), 0o600)
    chownSync(at('empty'), OWNER, OWNER)
    await expect(new NamedFile(at('empty')).createAsRoot()).rejects.toThrow('exists already')
    expect(readFileSync(at('secret'), 'utf8')).toBe('kept')
  })

  test('is not read through a link in a folder where everybody may put one, and a missing one is left to be told', async () => {
    chmodSync(at('theirs'), 0o1777)
    chownSync(at('theirs'), 0, 0)
    symlinkSync(at('secret'), at('theirs', 'link'))
    lchownSync(at('theirs', 'link'), OWNER, OWNER)
    const planted = new NamedFile(at('theirs', 'link'))
    await planted.openAsRoot()
    await expect(planted.toRead()).rejects.toMatchObject({ code: 'ELOOP' })
    const missing = new NamedFile(at('theirs', 'missing'))
    await missing.openAsRoot()
    await expect(openBackup(missing)).rejects.toThrow(`${missing.path} cannot be read (ENOENT).`)
    const own = new NamedFile(at('secret'))
    await own.openAsRoot()
    const file = await own.toRead()
    expect(await file.readFile('utf8')).toBe('kept')
    await file.close()
  })
})
