import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ownFolder, whileUnowned } from '../../../src/edge/fences/folder-lock.ts'

let parent: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'drawbridge-test-'))
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

test('the folder of a new nginx is made by the agent that owns it', () => {
  const folder = join(parent, 'drawbridge')
  const release = ownFolder(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o755)
  release()
})

test('a folder that cannot be made is named', () => {
  const folder = join(parent, 'not-there', 'drawbridge')
  expect(() => ownFolder(folder)).toThrow(`${folder} could not be read or written (ENOENT).`)
})

test('a folder has one owner, and nobody changes it beside that one', async () => {
  const folder = join(parent, 'drawbridge')
  const release = ownFolder(folder)
  const change = () => whileUnowned(folder, '23', async () => 'changed')
  expect(() => ownFolder(folder)).toThrow('is in use by process')
  await expect(change()).rejects.toThrow('Edge 23 belongs to an agent')
  release()
  expect(await change()).toBe('changed')
})
