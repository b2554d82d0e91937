import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/primitives/clock.ts'
import { Checkpoints } from '../../../src/store/dialects/checkpoints.ts'
import { tempFolder } from '../../support/temp-folder.ts'

function open(file: string): Database.Database {
  const database = new Database(file)
  database.pragma('journal_mode = WAL')
  database.pragma('wal_autocheckpoint = 0')
  database.exec('create table rows (text)')
  return database
}

const fill = (database: Database.Database) => database.prepare('insert into rows values (?)').run('x'.repeat(500_000))

test('a checkpoint moves the log into the file, and the last connection removes the log', async () => {
  using folder = tempFolder()
  const file = join(folder.path, 'drawbridge.db')
  const database = open(file)
  const checkpoints = new Checkpoints(file, systemClock)
  fill(database)
  expect(statSync(file).size).toBeLessThan(100_000)
  await checkpoints.make()
  expect(statSync(file).size).toBeGreaterThan(500_000)
  fill(database)
  await checkpoints.make()
  // Written from its beginning again.
  fill(database)
  expect(statSync(`${file}-wal`).size).toBeLessThan(1_500_000)
  await checkpoints.end()
  database.close()
  expect(existsSync(`${file}-wal`)).toBe(false)
})

test('a checkpoint that cannot be made is over all the same, and the next one is made', async () => {
  using folder = tempFolder()
  const file = join(folder.path, 'drawbridge.db')
  const checkpoints = new Checkpoints(file, systemClock)
  await checkpoints.make()
  const database = open(file)
  fill(database)
  await checkpoints.make()
  expect(statSync(file).size).toBeGreaterThan(500_000)
  await checkpoints.end()
  await checkpoints.end()
  database.close()
})
