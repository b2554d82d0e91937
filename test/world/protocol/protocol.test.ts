import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CRASH_POINTS } from '../../../src/runs/engine/crash-points.ts'
import type { TempFolder } from '../../support/temp-folder.ts'
import type { History } from '../command.ts'
import { describeCounterexample, findBroken, shorten } from '../search.ts'
import { memoryFolder, newTemplate, type Template } from '../stores.ts'
import { allCases, type Case, sample } from './cases.ts'
import { GUARDS } from './guards.ts'

const SEED = Number(process.env.SEED ?? 1)
/** Beside one crash at some points, or in a campaign at every point. */
const CASES = Number(process.env.COUNT ?? (process.env.CAMPAIGN ? 5_000 : 5))
vi.setConfig({ testTimeout: process.env.CAMPAIGN ? 10_000_000 : 240_000 })

/** A converge is no request. Only a renewal orders a certificate here. */
const NOT_HERE = /^converge |^(?!renew ).* certificate | proxy-tls /
/** An accept has no step behind this one that could turn it back. A renewal turns back before its proof. */
const NO_WAY_BACK =
  /^((remove|accept) (backup|proxy|dns)|renew verify) (before-undo-intent|after-undo-intent|after-undo|after-undone)$/
const POINTS = CRASH_POINTS.filter((point) => !NOT_HERE.test(point))

/** The points that are the first with an action, a step or a moment. */
function covering(points: readonly string[]): readonly string[] {
  const known = new Set<string>()
  return points.filter((point) => {
    const before = known.size
    for (const word of point.split(' ')) known.add(word)
    return known.size > before
  })
}

let folder: TempFolder
let template: Template
let cases: readonly Case[]

beforeAll(async () => {
  folder = memoryFolder()
  template = await newTemplate(folder.path)
  cases = await allCases(template)
})
afterAll(() => {
  folder[Symbol.dispose]()
})

async function assertSound(histories: readonly History[]): Promise<void> {
  for (const history of histories) {
    const found = await findBroken(history, template)
    if (found) expect.fail(describeCounterexample(await shorten(found, template)))
  }
}

test('the enumeration stops the process at every point of a run', () => {
  for (const how of ['crash', 'pause']) {
    const reached = new Set(cases.filter((one) => one.how === how).map(({ at }) => at))
    expect(POINTS.filter((point) => !reached.has(point) && !NO_WAY_BACK.test(point))).toEqual([])
  }
})

test('no trouble at any point of a request breaks a promise', () =>
  assertSound(sample(cases, CASES, SEED).map(({ history }) => history)))

test('no crash at a point of a run breaks a promise', () => {
  const crashes = cases.filter(({ how }) => how === 'crash')
  const points = process.env.CAMPAIGN ? POINTS : covering(POINTS)
  const chosen = points.map((point) => crashes.find(({ at }) => at === point))
  return assertSound(chosen.flatMap((one) => (one ? [one.history] : [])))
})

test.for(GUARDS)('without the guard "$name" a promise breaks', async ({ without, history, isInSource }) => {
  // With all guards the cases above break none.
  if (process.env.CAMPAIGN || isInSource) expect(await findBroken(history, template)).toBeUndefined()
  expect(await findBroken(history, template, without)).toBeDefined()
})
