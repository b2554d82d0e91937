import fs, { readdirSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  createFile,
  createFileInBackground,
  replaceFile,
  syncFileNow,
  syncFolder,
  whenWritesAreLost,
} from '../../../src/primitives/durable-file.ts'
import { endOnLostWrites } from '../../../src/runtime/ending.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { openStore } from '../../../src/store/open.ts'
import { sampleEntry } from '../../contract/samples.ts'
import { freshFolder } from '../../support/fresh.ts'

const { fsync, fdatasync, fsyncSync } = fs
const at = freshFolder()
let lines: string[]
let kills: number

function setDisk(calls: object): void {
  Object.assign(fs, calls)
  syncBuiltinESMExports()
}

/** Every call fails from now on. */
function failWith(code: string): void {
  const fault = () => Object.assign(new Error(`${code}: fsync`), { code })
  const fail = (_: number, done: (error: Error) => void) => done(fault())
  const failNow = () => {
    throw fault()
  }
  setDisk({ fsync: fail, fdatasync: fail, fsyncSync: failNow })
}

beforeEach(() => {
  lines = []
  kills = 0
  endOnLostWrites(createLog('info', [], { write: (line) => void lines.push(line) }), {
    kill: () => {
      kills += 1
    },
  })
})
afterEach(() => {
  setDisk({ fsync, fdatasync, fsyncSync })
  whenWritesAreLost(() => undefined)
})

const WRITES: Readonly<Record<string, () => unknown>> = {
  'a new file': () => createFile(at('new'), 'x', 0o600),
  'a new file, in the background': () => createFileInBackground(at('new'), 'x', 0o600),
  'a replaced file': () => replaceFile(at('replaced'), 'x', 0o600),
  'the names in a folder': () => syncFolder(at()),
  'a file, at once': () => syncFileNow(1, at('new')),
}

test.each(Object.keys(WRITES))('the process ends once the disk has refused %s', async (write) => {
  failWith('EIO')
  await expect((async () => WRITES[write]?.())()).rejects.toMatchObject({ code: 'EIO' })
  expect(kills).toBe(1)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'writes_lost', level: 'fatal', reason: 'EIO', path: expect.stringContaining(at()) },
  ])
})

test('the process ends before a commit that the disk has refused is answered, and before the database is closed', async () => {
  const store = await openStore({ kind: 'sqlite', file: at('drawbridge.db') })
  failWith('ENOSPC')
  const writing = store.appendAudit(sampleEntry())
  await expect(writing).rejects.toThrow()
  expect(kills).toBe(1)
  expect(lines.join()).toContain('drawbridge.db-wal')
  setDisk({ fsync, fdatasync, fsyncSync })
  await store.close()
})

test('a file system that cannot sync has lost nothing', async () => {
  failWith('EINVAL')
  await expect(syncFolder(at())).rejects.toMatchObject({ code: 'EINVAL' })
  expect(kills).toBe(0)
})

test('one file calls fsync, so nothing that is written for good goes past it', () => {
  const calling = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      /\bf(?:data)?sync(?:Sync)?\s*[(,]|\.(?:data)?sync\(\)/.test(readFileSync(join('src', file), 'utf8')),
  )
  expect(calling).toEqual(['primitives/durable-file.ts'])
})
