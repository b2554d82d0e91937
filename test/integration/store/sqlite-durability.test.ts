import fs, { statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { StoreUnavailable } from '../../../src/store/ports/store.ts'
import { sampleEntry } from '../../contract/samples.ts'
import { freshFolder } from '../../support/fresh.ts'

/** Ends the calls of fdatasync. Undefined: they end by themselves. */
const disk: { gate: Promise<Error | null> | undefined } = { gate: undefined }
const { fdatasync } = fs

beforeAll(() => {
  const gated = (descriptor: number, done: (error: Error | null) => void) => {
    if (disk.gate) void disk.gate.then(done)
    else fdatasync(descriptor, done)
  }
  Object.assign(fs, { fdatasync: gated })
  syncBuiltinESMExports()
})
afterAll(() => {
  Object.assign(fs, { fdatasync })
  syncBuiltinESMExports()
})

/** The event loop goes on, long enough for everything that does not wait for the disk. */
const eventLoopTurns = async () => {
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const at = freshFolder()
beforeEach(() => {
  disk.gate = undefined
})

const open = () => openStore({ kind: 'sqlite', file: at('drawbridge.db') })

it('a commit resolves after the disk has it, and the event loop goes on meanwhile', async () => {
  const store = await open()
  const gate = Promise.withResolvers<null>()
  disk.gate = gate.promise
  let isDone = false
  const writing = store.appendAudit(sampleEntry()).then(() => {
    isDone = true
  })
  await eventLoopTurns()
  expect(isDone).toBe(false)
  gate.resolve(null)
  await writing
  disk.gate = undefined
  await store.close()
})

it('nobody reads what the disk does not have yet', async () => {
  const store = await open()
  const gate = Promise.withResolvers<null>()
  disk.gate = gate.promise
  const writing = store.appendAudit(sampleEntry())
  let lines: number | undefined
  const reading = store.readAudit(0, 10).then((found) => {
    lines = found.length
  })
  await eventLoopTurns()
  expect(lines).toBeUndefined()
  gate.resolve(null)
  await Promise.all([writing, reading])
  expect(lines).toBe(1)
  disk.gate = undefined
  await store.close()
})

it('a disk that fails makes the store unavailable, and the write is not confirmed', async () => {
  const store = await open()
  disk.gate = Promise.resolve(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }))
  await expect(store.appendAudit(sampleEntry())).rejects.toThrow(StoreUnavailable)
  disk.gate = undefined
  await store.close()
})

it('the log goes into the database file while the store is open', async () => {
  const store = await open()
  const size = () => statSync(at('drawbridge.db')).size
  const before = size()
  for (let round = 0; round < 30; round += 1)
    await store.transaction(async (session) => {
      for (let line = 0; line < 20; line += 1) await session.appendAudit(sampleEntry())
    })
  expect(size()).toBeGreaterThan(before)
  await store.close()
})
