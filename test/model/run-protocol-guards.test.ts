import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openStores, type Stores } from './cluster.ts'
import { GUARDS } from './guards.ts'
import { allCases, type Case, sample } from './histories.ts'
import { pointsOf } from './history.ts'
import { describeCounterexample, firstBroken, shorten } from './search.ts'

const SEED = Number(process.env.SEED ?? 1)
/** A guard that more histories do not miss is not needed, or the model does not see it. */
const HISTORIES = process.env.CAMPAIGN ? 2_000 : 300
vi.setConfig({ testTimeout: 120_000 })

let stores: Stores
let cases: readonly Case[]

beforeAll(async () => {
  stores = await openStores()
  cases = await allCases((history) => pointsOf(history, stores))
})
afterAll(async () => {
  await stores.close()
})

test.for(GUARDS)('without the guard "$name" an invariant breaks', async ({ without, shownBy }, { annotate }) => {
  const chosen = sample(cases.filter(shownBy), HISTORIES, SEED)
  const found = await firstBroken(
    chosen.map(({ history }) => history),
    stores,
    without,
  )
  expect(found).toBeDefined()
  if (found && process.env.CAMPAIGN)
    await annotate(describeCounterexample(await shorten(found, stores, without)), 'smallest counterexample')
})
