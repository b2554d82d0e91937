import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ListedHost } from '../../../src/edge/contract/list.ts'
import type { Entry } from '../../../src/edge/record/entry.ts'
import { type ProxyTarget, proxyStep } from '../../../src/runs/steps/proxy.ts'
import { entryOf, PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'
import { editEntry } from '../../support/lab/entry-file.ts'

/** A real nginx whose host is changed by a run and put back by its undo, from what the edge has kept. */
let at: TestEdge
let count = 0
beforeAll(async () => {
  at = await startTestEdge()
})
afterAll(() => at?.stop())
afterEach(() => at.remove(site.host, { mend: true }))

const site = { host: 'app.lab.test', planId: PLAN_ID, target: 'http://127.0.0.1:9', proof: 'ab'.repeat(32) }
const isServed = async () => (await at.edge.ask({ host: site.host, path: '/', tls: false })).kind === 'answer'
/** What stands, without the time since when a difference stands: a text that is put back is written anew. */
async function listed(): Promise<ListedHost> {
  const { drift, ...others } = (await at.edge.list([site.host])).hosts[0] as ListedHost
  return { ...others, drift: drift.map((difference) => ({ ...difference, since: 0 })) }
}
const edit = () => editEntry(at.fileOf('backends', site.host), site.host)

/** The step of a run that makes the host what is wanted. */
function stepTo(wanted: Entry | 'absent', mend = false) {
  count += 1
  const run = `run_${'a'.repeat(25)}${count}`
  const target: ProxyTarget = {
    name: 'proxy',
    wishes: async () => [{ host: site.host, expected: 'any', wanted, mend }],
    hosts: [site.host],
  }
  const fence = { host: site.host, epoch: 0, number: 0 }
  const step = proxyStep(
    {
      primary: at.edge,
      secondary: undefined,
      guard: {
        assertHeld: () => undefined,
        ensureHeld: async () => undefined,
        fences: [fence],
        run: { run, store: `store_${'a'.repeat(26)}` },
        signal: new AbortController().signal,
        leftMs: 60_000,
      },
      onCrashPoint: () => undefined,
      judgeSecondary: undefined,
    },
    target,
  )
  const noted = async () => undefined
  return { do: () => step.do({ run }, {}, noted), undo: () => step.undo({ run }, {}, noted), run }
}

test('what was taken away is put back and served', async () => {
  await at.place(site)
  const before = await listed()
  const step = stepTo('absent')
  await step.do()
  expect(await isServed()).toBe(false)
  for (const _ of [1, 2]) await step.undo()
  expect(await isServed()).toBe(true)
  expect(await listed()).toEqual(before)
})

test('what was added goes, and what was another entry is that again', async () => {
  const added = stepTo(entryOf(site))
  await added.do()
  expect(await isServed()).toBe(true)
  await added.undo()
  expect([await isServed(), (await listed()).entry]).toEqual([false, null])
  await at.place(site)
  const before = await listed()
  const changed = stepTo(entryOf({ ...site, target: 'http://127.0.0.1:10' }))
  await changed.do()
  await changed.undo()
  expect(await listed()).toEqual(before)
})

test('text that somebody else wrote and a run replaced is put back as it was found', async () => {
  await at.place(site)
  edit()
  const before = await listed()
  expect(before.drift).not.toEqual([])
  const step = stepTo(entryOf(site), true)
  await step.do()
  expect((await listed()).drift).toEqual([])
  await step.undo()
  expect(await listed()).toEqual(before)
})

test('an undo says that it failed when somebody has edited the host since', async () => {
  await at.place(site)
  const step = stepTo(entryOf({ ...site, target: 'http://127.0.0.1:10' }))
  await step.do()
  edit()
  const edited = await listed()
  await expect(step.undo()).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  expect(await listed()).toEqual(edited)
})

test('an undo of a run that is settled changes nothing any more', async () => {
  await at.place(site)
  const step = stepTo('absent')
  await step.do()
  const floor = { store: `store_${'a'.repeat(26)}`, epoch: 1 }
  await at.edge.change({ items: [], settles: [step.run], floor })
  await step.undo()
  expect(await isServed()).toBe(false)
})
