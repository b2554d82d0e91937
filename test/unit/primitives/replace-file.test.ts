import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replaceFile } from '../../../src/primitives/durable-file.ts'
import { tempFolder } from '../../support/temp-folder.ts'

test('a file is looked at again directly before another one takes its place, and stays if it must', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'a')
  writeFileSync(path, 'former')
  const seen: string[][] = []
  const refuse = () => {
    seen.push(readdirSync(folder.path).toSorted())
    throw new Error('It was edited.')
  }
  await expect(replaceFile(path, 'next', 0o600, refuse)).rejects.toThrow('It was edited.')
  expect(seen).toEqual([['a', 'a.new']])
  expect([readdirSync(folder.path), readFileSync(path, 'utf8')]).toEqual([['a'], 'former'])
  await replaceFile(path, 'next', 0o600, () => undefined)
  expect([readdirSync(folder.path), readFileSync(path, 'utf8')]).toEqual([['a'], 'next'])
})
