import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupShelf } from '../../../src/runs/backup-shelf.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const file = { path: 'hosts/app.lab.test.conf', content: 'server {}\n', secret: false }
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
  for (const runId of runs) await shelf.keep({ runId, host: 'app.lab.test', server: '23' }, [file])
  await expect.poll(() => readdirSync(folder.path).length).toBeLessThan(runs.length)
  expect(readdirSync(folder.path)).toEqual(expect.arrayContaining(needed))
  expect(await shelf.load('run_0000')).toEqual([file])
})

test('while nobody can say which runs are blocked, no backup is let go', async () => {
  using folder = tempFolder()
  const asked: string[] = []
  const shelf = backupShelf(folder.path, 2, Date.now, async () => {
    asked.push('asked')
    throw new Error('the store does not answer')
  })
  for (const runId of runs) await shelf.keep({ runId, host: 'app.lab.test', server: '23' }, [file])
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  expect(readdirSync(folder.path)).toEqual(runs)
})

test('a backup whose file is gone is a fault that names it', async () => {
  using folder = tempFolder()
  const shelf = backupShelf(folder.path, 2, Date.now, async () => new Set())
  await shelf.keep({ runId: 'run_0000', host: 'app.lab.test', server: '23' }, [file])
  rmSync(join(folder.path, 'run_0000', '0'))
  await expect(shelf.load('run_0000')).rejects.toThrow('The backup of hosts/app.lab.test.conf in run_0000 is missing.')
})
