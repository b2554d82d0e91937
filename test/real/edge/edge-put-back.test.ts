import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EdgeFile } from '../../../src/edge/contract.ts'
import { type ProxyTarget, proxyStep } from '../../../src/runs/steps/proxy.ts'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'

/** A real nginx whose host is taken away and put back, from what was kept of its files. */
let at: TestEdge
beforeAll(async () => {
  at = await startTestEdge()
})
afterAll(() => at?.stop())

const site = { host: 'app.lab.test', planId: PLAN_ID, target: 'http://127.0.0.1:9' }
const isServed = async () => (await at.edge.ask({ host: site.host, path: '/', tls: false })).kind === 'answer'

/** Takes the host away as a removal does, and undoes it with these files at hand. */
async function takenAwayAndBack(kept: (stood: readonly EdgeFile[]) => readonly EdgeFile[]): Promise<void> {
  await at.place(site)
  const wanted = await at.edge.filesWithout(site.host)
  const stood = await at.edge.read(wanted.map(({ path }) => path))
  const target: ProxyTarget = {
    name: 'proxy',
    ours: async () => undefined,
    wanted: async () => wanted,
    former: async () => kept(stood),
    isRestored: isServed,
  }
  const step = proxyStep(
    {
      primary: at.edge,
      secondary: undefined,
      guard: {
        assertHeld: () => undefined,
        ensureHeld: async () => undefined,
        fences: [],
        run: { run: 'run_a', store: 'store_a' },
        signal: new AbortController().signal,
        leftMs: 60_000,
      },
      reached: () => undefined,
      judgeSecondary: undefined,
    },
    target,
  )
  let image: Parameters<typeof step.undo>[0] = null
  await step.do(null, {}, async (noted) => {
    image = noted
  })
  expect(await isServed()).toBe(false)
  await step.undo(image, {}, async () => undefined)
}

test('what was kept as it stood is put back and served', async () => {
  await takenAwayAndBack((stood) => stood)
  expect(await isServed()).toBe(true)
})

test.each([
  ['nothing was kept', () => []],
  [
    'something else was kept',
    ([file]: readonly EdgeFile[]) => (file ? [{ ...file, content: '# another text\n' }] : []),
  ],
])('an undo says that it failed when %s', async (_, kept) => {
  await expect(takenAwayAndBack(kept)).rejects.toThrow('No backup holds entries/app.lab.test as it was before the run')
  expect(await isServed()).toBe(false)
})
