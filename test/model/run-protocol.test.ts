import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CRASH_POINTS } from '../../src/runs/engine/crash-points.ts'
import { fc } from '../support/fast-check.ts'
import { openStores, type Stores } from './cluster.ts'
import { allCases, anyHistory, type Case, sample } from './histories.ts'
import { findBroken, pointsOf } from './history.ts'
import { REPAIRED_FAULTS } from './repaired-faults.ts'
import { describeCounterexample, search } from './search.ts'

const SEED = Number(process.env.SEED ?? 1)
/** Beside one crash at every point. */
const CASES = process.env.CAMPAIGN ? 10_000 : 40
const RANDOM_HISTORIES = process.env.CAMPAIGN ? 5_000 : 50
vi.setConfig({ testTimeout: process.env.CAMPAIGN ? 3_600_000 : 120_000 })

/** The points inside the real steps, which the stand-ins of the model do not have, and steps that the model leaves out. */
const NOT_IN_MODEL = /^converge | (staged|before-swap|swapped|reloaded|challenge-set)$| (backup|certificate|proxy-tls) /
const POINTS = CRASH_POINTS.filter((point) => !NOT_IN_MODEL.test(point))

let stores: Stores
let cases: readonly Case[]

beforeAll(async () => {
  stores = await openStores()
  cases = await allCases((history) => pointsOf(history, stores))
})
afterAll(async () => {
  await stores.close()
})

test('no case of the enumeration breaks an invariant', async () => {
  const chosen = sample(cases, CASES, SEED)
  const found = await search(
    chosen.map(({ history }) => history),
    stores,
  )
  expect(found && describeCounterexample(found)).toBeUndefined()
})

test('no crash at any point of the run engine breaks an invariant', async () => {
  const crashes = cases.filter(({ family }) => family === 'crash')
  const found = await search(
    POINTS.flatMap((point) => crashes.filter(({ at }) => at.split(', ').includes(point)).slice(0, 1)).map(
      ({ history }) => history,
    ),
    stores,
  )
  expect(found && describeCounterexample(found)).toBeUndefined()
})

test('no random history breaks an invariant', async () => {
  const isSound = async (history: Parameters<typeof pointsOf>[0]) => {
    const found = await search([history], stores)
    if (found) throw new Error(describeCounterexample(found))
  }
  await fc.assert(fc.asyncProperty(anyHistory, isSound), { seed: SEED, numRuns: RANDOM_HISTORIES })
})

test.for(REPAIRED_FAULTS)('stays repaired: $name', async ({ history }) => {
  const found = await findBroken(history, stores)
  expect(found && describeCounterexample(found)).toBeUndefined()
})

test('the enumeration crashes and pauses at every crash point of its steps', () => {
  for (const family of ['crash', 'pause'] as const) {
    const reached = new Set(cases.filter((one) => one.family === family).flatMap(({ at }) => at.split(', ')))
    expect(POINTS.filter((point) => !reached.has(point))).toEqual([])
  }
})
