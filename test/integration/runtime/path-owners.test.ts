import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import { becomeOwner } from '../../../src/runtime/owner.ts'
import { firstOfOthers, isRootsAlone, partsOf } from '../../../src/runtime/path-owners.ts'
import { freshFolder } from '../../support/fresh.ts'

/** No users of the machine have these numbers. */
const [OWNER, MALLORY] = [54_321, 54_322]

const at = freshFolder()

beforeEach(() => {
  mkdirSync(at('parent', 'state'), { recursive: true })
  writeFileSync(at('parent', 'file'), '')
})

const firstOn = (path: string) => firstOfOthers(partsOf(path), OWNER)?.path

describe.runIf(process.getuid?.() === 0)('who decides which file a path leads to (THREATS row 35)', () => {
  test('root and the owner alone', () => {
    chownSync(at('parent', 'state'), OWNER, OWNER)
    expect(firstOn(at('parent', 'state'))).toBeUndefined()
    expect(isRootsAlone(at('parent', 'file'))).toBe(true)
    expect(isRootsAlone(at('parent', 'state'))).toBe(false)
  })

  test('another user who owns a folder on the way', () => {
    chownSync(at('parent'), MALLORY, MALLORY)
    expect(firstOn(at('parent', 'state'))).toBe(at('parent'))
  })

  test.each([
    ['all', 0o757, 0],
    ['a group', 0o775, MALLORY],
  ])('%s who may write a folder on the way', (_who, mode, gid) => {
    chownSync(at('parent'), 0, gid)
    chmodSync(at('parent'), mode)
    expect(firstOn(at('parent', 'state'))).toBe(at('parent'))
  })

  test('nobody else in a folder with the sticky bit, unless a part below is theirs', () => {
    chmodSync(at('parent'), 0o1777)
    expect(firstOn(at('parent', 'state'))).toBeUndefined()
    chownSync(at('parent', 'state'), MALLORY, MALLORY)
    expect(firstOn(at('parent', 'state'))).toBe(at('parent', 'state'))
  })

  test('the owner of a link on the way, and of a folder that a link leads to', () => {
    symlinkSync('parent', at('link'))
    expect(firstOn(at('link', 'state'))).toBeUndefined()
    lchownSync(at('link'), MALLORY, MALLORY)
    expect(firstOn(at('link', 'state'))).toBe(at('link'))
  })

  test('a group that may write the folder in which root would make the state folder, or the state folder of root', async () => {
    chownSync(at('parent'), 0, MALLORY)
    chmodSync(at('parent'), 0o775)
    for (const folder of [at('parent', 'missing'), at('parent')])
      await expect(becomeOwner(folder, '/etc/passwd')).rejects.toThrow(`chmod go-w ${at('parent')}`)
  })

  test('links in a circle are refused', () => {
    symlinkSync('other', at('one'))
    symlinkSync('one', at('other'))
    expect(() => partsOf(at('one'))).toThrow('too many links')
  })
})
