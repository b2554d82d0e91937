import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { TempFolder } from '../support/temp-folder.ts'
import { type History, historyOf } from './command.ts'
import { FOUND, REPAIRS } from './found.ts'
import { describeCounterexample, findBroken, shorten } from './search.ts'
import { memoryFolder, newTemplate, type Template } from './stores.ts'

/** The first history, and how many, or for how many minutes. */
const SEED = Number(process.env.SEED ?? 1)
const COUNT = Number(process.env.COUNT ?? (process.env.CAMPAIGN ? Number.POSITIVE_INFINITY : 15))
const MINUTES = Number(process.env.MINUTES ?? 10)
vi.setConfig({ testTimeout: (MINUTES + 10) * 60_000 })

let folder: TempFolder
let template: Template

beforeAll(async () => {
  folder = memoryFolder()
  template = await newTemplate(folder.path)
})
afterAll(() => {
  folder[Symbol.dispose]()
})

test('no history breaks a promise', async ({ annotate }) => {
  const end = performance.now() + MINUTES * 60_000
  let seed = SEED
  for (; seed < SEED + COUNT && performance.now() < end; seed += 1) {
    const found = await findBroken(historyOf(seed), template)
    if (found) expect.fail(describeCounterexample(await shorten(found, template), seed))
  }
  if (process.env.CAMPAIGN) await annotate(`Histories ${SEED} to ${seed - 1}. Go on with SEED=${seed}.`, 'world')
})

// A name in a title of test.for would be cut.
for (const { name, history } of FOUND) test(`stays repaired: ${name}`, () => assertSound(history))
for (const { name, history } of REPAIRS) test(`holds: ${name}`, () => assertSound(history))

async function assertSound(history: History): Promise<void> {
  const found = await findBroken(history, template)
  expect(found && describeCounterexample(found)).toBeUndefined()
}
