import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Edge } from '../../../src/edge/contract.ts'
import { EdgeLock } from '../../../src/runs/engine/edge-lock.ts'
import { EarlyValidation } from '../../../src/runs/steps/early-validation.ts'
import { openStore } from '../../../src/store/open.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** A fake edge that counts its configuration tests. */
class CountingEdge {
  readonly server = '23'
  tests = 0
  hashFiles = async () => []
  validate = async () => {
    this.tests += 1
  }
}

test('of many validations at the same time only the first in the queue tests the configuration', async () => {
  using folder = tempFolder()
  const store = await openStore({ kind: 'sqlite', file: join(folder.path, 'drawbridge.db') })
  const edgeLock = new EdgeLock(store, 'test', 60_000)
  const counting = new CountingEdge()
  const edge = counting as unknown as Edge
  await edgeLock.hold(edge, async () => undefined)
  const validations = Array.from({ length: 20 }, () => new EarlyValidation(edgeLock))
  await Promise.all(validations.map((earlyValidation) => earlyValidation.begin(edge, async () => [])))
  await Promise.all(validations.map((earlyValidation) => earlyValidation.ended()))
  expect(counting.tests).toBe(1)
  const covered = validations.map((earlyValidation) =>
    edgeLock.hold(edge, (turn) => earlyValidation.covers(edge, [], turn)),
  )
  expect((await Promise.all(covered)).filter(Boolean)).toHaveLength(1)
  await store.close()
})
