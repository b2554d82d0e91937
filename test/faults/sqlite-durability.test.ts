import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { StoreUnavailable } from '../../src/store/ports/store.ts'
import { sampleEntry } from '../contract/samples.ts'

const disk = vi.hoisted(() => ({
  /** Ends the calls of fdatasync. Undefined: they end by themselves. */
  gate: undefined as Promise<Error | null> | undefined,
}))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const fdatasync = (descriptor: number, done: (error: Error | null) => void) => {
    if (disk.gate) void disk.gate.then(done)
    else real.fdatasync(descriptor, done)
  }
  return { ...real, fdatasync, default: real }
})

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drawbridge-durability-'))
  disk.gate = undefined
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = () => openStore({ kind: 'sqlite', file: join(folder, 'drawbridge.db') })

it('a commit resolves after the disk has it, and the event loop goes on meanwhile', async () => {
  const store = await open()
  const gate = Promise.withResolvers<null>()
  disk.gate = gate.promise
  let isDone = false
  const writing = store.appendAudit(sampleEntry()).then(() => {
    isDone = true
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
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
  await new Promise((resolve) => setTimeout(resolve, 50))
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
