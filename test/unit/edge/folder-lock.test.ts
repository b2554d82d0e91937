import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OwnedElsewhere } from '../../../src/edge/contract/fault.ts'
import { FolderLock, lockHolder, owning } from '../../../src/edge/fences/folder-lock.ts'

let parent: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'drawbridge-test-'))
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

test('the folder of a new nginx is made by its owner', () => {
  const folder = join(parent, 'drawbridge')
  const lock = new FolderLock(folder, '23')
  lock.take()
  expect(statSync(folder).mode & 0o777).toBe(0o755)
  expect(statSync(join(folder, '.engine-lock')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['.engine-lock'])
  lock.release()
})

test('a folder that cannot be made is named', () => {
  const folder = join(parent, 'not-there', 'drawbridge')
  expect(() => new FolderLock(folder, '23').take()).toThrow(`${folder} could not be read or written (ENOENT).`)
})

test('a folder has one owner, which takes it once and keeps it, and the next one is told what to do', async () => {
  const folder = join(parent, 'drawbridge')
  const [first, second] = [new FolderLock(folder, '23'), new FolderLock(folder, '23')]
  first.take()
  first.take()
  expect(lockHolder(join(folder, '.engine-lock'))).toBe(process.pid)
  expect(() => second.take()).toThrow(OwnedElsewhere)
  expect(() => second.take()).toThrow(
    `Edge 23 belongs to process ${process.pid}, and one nginx has one owner. Stop that process. If several services use this nginx, ` +
      'run the edge agent for it and set edges.23.agent in each of them.',
  )
  await expect(owning(folder, '23', async () => 'done')).rejects.toThrow('Edge 23 belongs to process')
  first.release()
  expect(await owning(folder, '23', async () => 'done')).toBe('done')
  second.take()
  second.release()
})

test('the owner is found although its row was missing from the first copy of the table of locks', () => {
  const folder = join(parent, 'drawbridge')
  const lock = new FolderLock(folder, '23')
  lock.take()
  const copies = ['', readFileSync('/proc/locks', 'utf8')]
  expect(lockHolder(join(folder, '.engine-lock'), () => copies.shift() ?? '')).toBe(process.pid)
  lock.release()
})

test('what goes on after the end does not take the folder again', () => {
  const folder = join(parent, 'drawbridge')
  const [first, second] = [new FolderLock(folder, '23'), new FolderLock(folder, '23')]
  first.take()
  first.release()
  expect(() => first.take()).toThrow('This process has ended its work on edge 23.')
  second.take()
  second.release()
})
