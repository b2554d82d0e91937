import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Backup, BackupShelf } from '../../../../src/runs/backup-shelf.ts'
import { backupStep } from '../../../../src/runs/steps/backup.ts'
import { FakeEdge } from '../../../support/edge/fake-edge.ts'

test('a backup begun ahead of a check that fails is taken away only when it is written', async () => {
  const done: string[] = []
  const shelf: Partial<BackupShelf> = {
    keep: async () => {
      await turn()
      done.push('kept')
      return {} as Backup
    },
    tidy: async () => void done.push('tidied'),
    discard: async () => void done.push('discarded'),
  }
  const { edge } = new FakeEdge('23')
  const step = backupStep({
    ...{ runId: 'run_1', host: 'app.lab.test', edge, assertSound: async () => undefined },
    ...{ shelf: shelf as BackupShelf, certificate: undefined, isIntact: true },
  })
  step.early.begin({})
  await step.early.abandon()
  expect(done).toEqual(['kept', 'discarded'])
})
