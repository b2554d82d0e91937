import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { TempFolder } from '../support/temp-folder.ts'
import { type History, historyOf } from './command.ts'
import { FOUND, REPAIRS } from './found.ts'
import { describeCounterexample, endsOf, findBroken, shorten } from './search.ts'
import { memoryFolder, newTemplate, type Template } from './stores.ts'

/** The first history, and how many, or for how many minutes. */
const SEED = Number(process.env.SEED ?? 1)
const COUNT = Number(process.env.COUNT ?? (process.env.CAMPAIGN ? Number.POSITIVE_INFINITY : 8))
const MINUTES = Number(process.env.MINUTES ?? 10)
/** How long nginx is stopped. */
const AWAY_MS = (process.env.CAMPAIGN ? 60 : 2) * 60_000
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

const APPLY: History[number] = { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 }
const inProxy = (action: string) => ({ at: `${action} proxy after-intent`, how: 'pause' }) as const

test('no history breaks a promise', async ({ annotate }) => {
  const end = performance.now() + MINUTES * 60_000
  let seed = SEED
  for (; seed < SEED + COUNT && performance.now() < end; seed += 1) {
    const found = await findBroken(historyOf(seed), template).catch((error: unknown) => {
      throw new Error(`History ${seed} could not be played.`, { cause: error })
    })
    if (found) expect.fail(describeCounterexample(await shorten(found, template), seed))
  }
  if (process.env.CAMPAIGN) await annotate(`Histories ${SEED} to ${seed - 1}. Go on with SEED=${seed}.`, 'world')
})

// A name in a title of test.for would be cut.
for (const { name, history } of FOUND) test(`stays repaired: ${name}`, () => assertSound(history))
for (const { name, history } of REPAIRS) test(`holds: ${name}`, () => assertSound(history))

/** The machine of the Primary goes on without its nginx: no request and no duty may bring a host into a state that needs a person. */
test(`${AWAY_MS / 60_000} minutes without nginx block no host, and what is due meanwhile is done afterwards`, async () => {
  const ends = await endsOf(
    [
      { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 },
      { do: 'apply', by: 'a', host: 'two', expires: true, thenMs: 5_000 },
      { do: 'apply', by: 'a', host: 'three', thenMs: 5_000 },
      { do: 'stopNginx', machine: 'primary', thenMs: 1_000 },
      { do: 'apply', by: 'a', host: 'one', thenMs: 20_000 },
      { do: 'remove', by: 'a', host: 'one', thenMs: 20_000 },
      { do: 'repair', by: 'a', host: 'three', thenMs: AWAY_MS },
      // The attempts of a removal have longer and longer pauses.
      { do: 'startNginx', machine: 'primary', thenMs: AWAY_MS },
    ],
    template,
  )
  expect(ends.filter((end) => end.endsWith('blocked'))).toEqual([])
  expect(ends).toContain('two remove succeeded')
})

test('nginx that stops in the middle of a removal blocks no host', async () => {
  const ends = await endsOf(
    [
      { do: 'apply', by: 'a', host: 'one', thenMs: 5_000 },
      { do: 'nameServer', is: 'well', skewSeconds: 0, wireMs: 1_000, thenMs: 10 },
      { do: 'remove', by: 'a', host: 'one', thenMs: 500 },
      { do: 'stopNginx', machine: 'primary', thenMs: 30_000 },
    ],
    template,
  )
  expect(ends).toEqual(['one apply succeeded', 'one remove rolled_back'])
})

test.for<[string, History]>([
  ['apply', [{ do: 'apply', by: 'a', host: 'one', stop: inProxy('apply'), thenMs: 500 }]],
  ['update', [APPLY, { do: 'apply', by: 'a', host: 'one', stop: inProxy('update'), thenMs: 500 }]],
  ['accept', [APPLY, { do: 'accept', by: 'a', host: 'one', stop: inProxy('accept'), thenMs: 500 }]],
  [
    'repair',
    [
      APPLY,
      { do: 'edit', machine: 'primary', host: 'one', thenMs: 10 },
      { do: 'repair', by: 'a', host: 'one', overwrite: true, stop: inProxy('repair'), thenMs: 500 },
    ],
  ],
])('nginx that stops in the middle of the proxy step of %s blocks no host', async ([action, history]) => {
  const stops: History = [
    { do: 'stopNginx', machine: 'primary', thenMs: 100 },
    { do: 'wake', by: 'a', thenMs: 30_000 },
  ]
  const ends = await endsOf([...history, ...stops], template)
  expect(ends).toEqual([...(action === 'apply' ? [] : ['one apply succeeded']), `one ${action} rolled_back`])
})

/** The zone's server is the witness of the time: a removal takes the name first, under a signature that is good for seconds. */
test('an instance whose clock jumps ahead ends no exposure before its end', async () => {
  const ends = await endsOf(
    [
      { do: 'apply', by: 'a', host: 'one', expires: true, thenMs: 2_000 },
      { do: 'shift', by: 'a', ms: 22_000, thenMs: 8_000 },
      { do: 'shift', by: 'a', ms: 0, thenMs: 60_000 },
    ],
    template,
  )
  expect(ends.slice(0, 2)).toEqual(['one apply succeeded', 'one remove rolled_back'])
  expect(ends.at(-1)).toBe('one remove succeeded')
})

async function assertSound(history: History): Promise<void> {
  const found = await findBroken(history, template)
  expect(found && describeCounterexample(found)).toBeUndefined()
}
