import { expect, test } from 'vitest'
import { EdgeFault } from '../../../../src/edge/contract/fault.ts'
import type { RunGuard } from '../../../../src/model/run.ts'
import { type ProxyTarget, proxyStep } from '../../../../src/runs/steps/proxy.ts'
import { entryOf, PLAN_ID, STORE } from '../../../support/edge/edge.ts'
import { FakeEdge } from '../../../support/edge/fake-edge.ts'

const HOST = 'app.lab.test'
const FORMER = `plan_${'1'.repeat(26)}`
const GUARD: RunGuard = {
  assertHeld: () => undefined,
  ensureHeld: async () => undefined,
  leftMs: 1,
  fences: [{ host: HOST, epoch: 1, number: 1 }],
  run: { run: 'run_a', store: STORE },
  signal: new AbortController().signal,
}

/** A step that replaces the entry of the former plan by one of the next plan. */
function step(more: Partial<ProxyTarget> = {}, guard = GUARD) {
  const edge = new FakeEdge('23')
  edge.put(HOST, FORMER)
  const wanted = entryOf({ host: HOST, planId: PLAN_ID, target: 'http://127.0.0.1:9', proof: '0'.repeat(64) })
  const wishes: ProxyTarget['wishes'] = async () => [{ host: HOST, expected: 'any', wanted }]
  const target: ProxyTarget = { name: 'proxy', hosts: [HOST], wishes, ...more }
  const stepOf = (by: RunGuard) => {
    const parts = { primary: edge.edge, secondary: undefined, guard: by, onCrashPoint: () => undefined }
    return proxyStep({ ...parts, judgeSecondary: undefined }, target)
  }
  const { do: act, undo } = stepOf(guard)
  const nothing = async () => undefined
  const image = { run: GUARD.run.run }
  return { edge, stepOf, act: () => act(image, {}, nothing), undo: () => undo(image, {}, nothing) }
}

test('tells the generation that serves the host, and shows the fence of the run', async () => {
  const { act, edge } = step()
  expect(await act()).toEqual({ generation: 1 })
  expect([edge.planOf(HOST), edge.fences]).toEqual([PLAN_ID, GUARD.fences])
})

test('refuses what somebody else wrote, and leaves it', async () => {
  const { act, edge } = step()
  edge.edit(HOST)
  await expect(act()).rejects.toMatchObject({ untouched: true, message: expect.stringContaining('changed_elsewhere') })
  expect(edge.planOf(HOST)).toBe(FORMER)
})

test('refuses it with the code of its run, where the run has one', async () => {
  const { act, edge } = step({ refusal: 'changed_elsewhere' })
  edge.edit(HOST)
  await expect(act()).rejects.toMatchObject({ untouched: true, code: 'changed_elsewhere' })
})

test('changes no host for which the run has no fence', async () => {
  const { act, edge } = step({}, { ...GUARD, fences: [] })
  await expect(act()).rejects.toMatchObject({ untouched: true, message: `The run has no fence for ${HOST}.` })
  expect([edge.planOf(HOST), edge.changes]).toEqual([FORMER, 0])
})

test('after a crash it is made again, and its undo still puts back what stood at first', async () => {
  const { act, undo, edge } = step()
  await act()
  await act()
  await undo()
  expect(edge.planOf(HOST)).toBe(FORMER)
})

test('an undo puts back what stood before, and not over what somebody else wrote since', async () => {
  const one = step()
  await one.act()
  await one.undo()
  expect(one.edge.planOf(HOST)).toBe(FORMER)
  const edited = step()
  await edited.act()
  edited.edge.edit(HOST)
  await expect(edited.undo()).rejects.toMatchObject({ kind: 'changed_elsewhere' })
  expect(edited.edge.planOf(HOST)).toBe(PLAN_ID)
})

test('a run that resolves a blocked one puts back what stood before that one', async () => {
  const { act, stepOf, edge } = step()
  const image = await stepOf(GUARD).before({})
  await act()
  const resolving = stepOf({ ...GUARD, run: { ...GUARD.run, run: 'run_b' } })
  await resolving.undo(image, {}, async () => undefined)
  expect(edge.planOf(HOST)).toBe(FORMER)
})

test('an undo of a run that has changed nothing changes nothing', async () => {
  const { undo, edge } = step()
  await undo()
  expect(edge.planOf(HOST)).toBe(FORMER)
})

test.each(['write_failed', 'not_reloaded'] as const)(
  'an undo that ends with %s is made where what was before stands, and only there',
  async (kind) => {
    for (const isRestored of [true, false]) {
      const { undo, edge } = step({ isRestored: async () => isRestored })
      edge.fault = new EdgeFault(kind, 'The disk is full.')
      const undone = undo().then(() => 'undone')
      await (isRestored ? expect(undone).resolves.toBe('undone') : expect(undone).rejects.toMatchObject({ kind }))
    }
  },
)

test('where the edge refuses one of several hosts, the others are put back by the undo', async () => {
  const other = 'wiki.lab.test'
  const fences = [...GUARD.fences, { host: other, epoch: 1, number: 1 }]
  const wishes = async () =>
    [HOST, other].map((host) => ({
      ...{ host, expected: 'any' as const },
      wanted: entryOf({ host, planId: PLAN_ID, target: 'http://127.0.0.1:9', proof: '0'.repeat(64) }),
    }))
  const { act, undo, edge } = step({ hosts: [HOST, other], wishes }, { ...GUARD, fences })
  edge.put(other, FORMER)
  edge.edit(HOST)
  const fault = await act().catch((error: unknown) => error)
  expect([fault, edge.planOf(other)]).toEqual([expect.objectContaining({ untouched: false }), PLAN_ID])
  await undo()
  expect([HOST, other].map((host) => edge.planOf(host))).toEqual([FORMER, FORMER])
})
