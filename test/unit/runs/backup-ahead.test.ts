import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Edge } from '../../../src/edge/contract.ts'
import type { BackupManifest } from '../../../src/model/receipt.ts'
import type { BackupShelf } from '../../../src/runs/backup-shelf.ts'
import { backupStep } from '../../../src/runs/steps/backup.ts'

test('a backup begun ahead of a check that fails is taken away only when it is written', async () => {
  const done: string[] = []
  const shelf: Partial<BackupShelf> = {
    keep: async () => {
      await turn()
      done.push('kept')
      return {} as BackupManifest
    },
    tidy: async () => void done.push('tidied'),
    discard: async () => void done.push('discarded'),
  }
  const edge: Partial<Edge> = { server: '23', filesWithout: async () => [], read: async () => [] }
  const step = backupStep({
    runId: 'run_1',
    host: 'app.lab.test',
    edge: edge as Edge,
    assertSound: async () => undefined,
    shelf: shelf as BackupShelf,
    touched: async () => [],
    applied: [],
  })
  step.begin()
  await step.abandon()
  expect(done).toEqual(['kept', 'discarded'])
})
