import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isRoot } from '../../../lab/program.ts'
import { toProblem } from '../../../src/http/guard/problem.ts'
import { examine } from '../../../src/operate/doctor/doctor.ts'
import { fullDisks } from '../../../src/runtime/disk.ts'
import { writeStateFile } from '../../../src/runtime/state-file.ts'
import { openStore } from '../../../src/store/open.ts'
import { sampleEntry } from '../../contract/samples.ts'
import { freshFolder } from '../../support/fresh.ts'
import { onSmallDisk, type SmallDisk } from '../../support/lab/small-disk.ts'

describe.runIf(isRoot())('on a small disk, which only root may mount', () => {
  /** The state folder is on a small tmpfs. Needs root. */
  const at = freshFolder()
  let stateDir: string
  let disk: SmallDisk
  beforeEach(() => {
    stateDir = at('state')
    mkdirSync(stateDir, { mode: 0o700 })
    disk = onSmallDisk(stateDir, 4 * 1024)
  })
  afterEach(() => {
    disk.unmount()
  })

  test('a store on a full disk names its folder to the caller, and goes on when there is space', async () => {
    const store = await openStore({ kind: 'sqlite', file: join(stateDir, 'drawbridge.db') })
    disk.fill()
    // What the log of SQLite has already of the disk is used up first.
    let written = 0
    let problem: unknown
    while (problem === undefined && written < 10_000)
      await store.appendAudit(sampleEntry()).then(
        () => (written += 1),
        (error: unknown) => (problem = toProblem(error, { network: 'internal' })),
      )
    expect(problem).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`the disk of ${stateDir} is full`),
    })
    disk.free()
    await store.appendAudit(sampleEntry())
    expect(await store.readAudit(0, 10_000)).toHaveLength(written + 1)
    await store.close()
  })

  test('a full disk is told to readyz once for each folder, until there is space', async () => {
    expect(await fullDisks([stateDir, stateDir, join(stateDir, 'missing')])).toEqual([])
    disk.fill()
    expect(await fullDisks([stateDir, stateDir])).toEqual([expect.stringContaining(`The disk of ${stateDir} is full`)])
    expect(await fullDisks([stateDir], () => 'the state folder')).toEqual([
      expect.stringMatching(/^The disk of the state folder is full \([^/]*\), so changes are refused\.$/),
    ])
    disk.free()
    expect(await fullDisks([stateDir])).toEqual([])
  })

  test('doctor finds a full disk', async () => {
    const parts = {
      ...{ stateDir, certificateFolders: [], edges: [], agents: [], zones: [], listeners: [], secondary: undefined },
      store: {
        file: join(stateDir, 'drawbridge.db'),
        version: async () => 1,
        oldest: 1,
        newest: 1,
        isUnverified: false,
        assertKey: () => undefined,
      },
      directory: { read: async () => ({ kind: 'available' }) },
      inventory: { findings: async () => [] },
      now: () => 0,
    } as unknown as Parameters<typeof examine>[0]
    const ofDisk = async () => (await examine(parts)).filter(({ subject }) => subject === 'disk')
    expect(await ofDisk()).toEqual([])
    disk.fill()
    expect(await ofDisk()).toMatchObject([{ status: 'fault', sentence: expect.stringContaining(stateDir) }])
  })

  test('a start on a full disk names the file that it cannot write', () => {
    disk.fill()
    const file = join(stateDir, 'instance.json')
    expect(() => writeStateFile(file, 'x'.repeat(8_192))).toThrow(`${file} cannot be written (ENOSPC)`)
  })
})
