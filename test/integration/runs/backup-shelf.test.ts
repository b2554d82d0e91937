import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupShelf } from '../../../src/runs/backup-shelf.ts'
import { entryOf } from '../../support/edge/engine.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const HOST = 'app.lab.test'
const backupOf = (runId: string) => ({ runId, host: HOST, server: '23', generation: 7, entry: entryOf(HOST) })
const runs = Array.from({ length: 30 }, (_, i) => `run_${String(i).padStart(4, '0')}`)

test('backups of runs that are blocked or not finished are kept, whatever their number', async () => {
  using folder = tempFolder()
  const needed = runs.slice(0, 5)
  let now = 0
  const shelf = backupShelf(
    folder.path,
    2,
    () => ++now,
    async () => new Set(needed),
  )
  for (const runId of runs) await shelf.keep(backupOf(runId))
  await expect.poll(() => readdirSync(folder.path).length).toBeLessThan(runs.length)
  expect(readdirSync(folder.path)).toEqual(expect.arrayContaining(needed))
  expect(await shelf.load('run_0000')).toMatchObject(backupOf('run_0000'))
})

test('while nobody can say which runs are blocked, no backup is let go', async () => {
  using folder = tempFolder()
  const asked: string[] = []
  const shelf = backupShelf(folder.path, 2, Date.now, async () => {
    asked.push('asked')
    throw new Error('the store does not answer')
  })
  for (const runId of runs) await shelf.keep(backupOf(runId))
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  expect(readdirSync(folder.path)).toEqual(runs)
})

test('a backup that is gone or damaged is a fault that names it, and is not listed', async () => {
  using folder = tempFolder()
  const shelf = backupShelf(folder.path, 2, Date.now, async () => new Set())
  await shelf.keep(backupOf('run_0000'))
  writeFileSync(join(folder.path, 'run_0000', 'manifest.json'), '{"runId": "run_0')
  for (const runId of ['run_0000', 'run_0001', '../run_0000'])
    await expect(shelf.load(runId)).rejects.toThrow(`There is no backup of run ${runId} that this version can read.`)
  expect(await shelf.list()).toEqual([])
})

test('a backup is for its owner alone: it holds the secret by which the entry proves itself', async () => {
  using folder = tempFolder()
  const shelf = backupShelf(folder.path, 2, Date.now, async () => new Set())
  await shelf.keep(backupOf('run_0000'))
  const modes = ['run_0000', 'run_0000/manifest.json'].map((name) => statSync(join(folder.path, name)).mode & 0o777)
  expect(modes).toEqual([0o700, 0o600])
})
