import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Edge } from '../../src/edge/contract.ts'
import { Turns } from '../../src/runs/engine/edge-lock.ts'
import { Rehearsal } from '../../src/runs/steps/early-validation.ts'
import { openStore } from '../../src/store/open.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Stands in for an edge: counts what it is asked to test. */
class CountingEdge {
  readonly server = '23'
  tests = 0
  look = async () => []
  validate = async () => {
    this.tests += 1
  }
}

test('of many who rehearse at once only the one who can be next does', async () => {
  using folder = tempFolder()
  const store = await openStore({ kind: 'sqlite', file: join(folder.path, 'drawbridge.db') })
  const turns = new Turns(store, 'test', 60_000)
  const counting = new CountingEdge()
  const edge = counting as unknown as Edge
  await turns.alone(edge, async () => undefined)
  const rehearsals = Array.from({ length: 20 }, () => new Rehearsal(turns))
  await Promise.all(rehearsals.map((rehearsal) => rehearsal.begin(edge, async () => [])))
  await Promise.all(rehearsals.map((rehearsal) => rehearsal.ended()))
  expect(counting.tests).toBe(1)
  const covered = rehearsals.map((rehearsal) => turns.alone(edge, (turn) => rehearsal.covers(edge, [], turn)))
  expect((await Promise.all(covered)).filter(Boolean)).toHaveLength(1)
  await store.close()
})
