import { expect, test } from 'vitest'
import { type OperationParts, perform, UnknownOperation } from '../../../src/operate/control/operations.ts'

/** An operation that is refused touches none of the parts. */
const parts = {} as OperationParts

test.each([
  ['shell', {}],
  ['constructor', {}],
  ['listBackups', { all: true }],
  ['listBackups', null],
  ['restore', { runId: 'run_1' }],
  ['resolve', { planId: 'plan_1', accept: 'yes' }],
  ['resolve', { planId: ['plan_1'], accept: true }],
  ['settle', { host: 'a.test' }],
  ['leftOvers', { planId: 'x'.repeat(201) }],
])('%s with %j is not known', (name, args) => expect(perform(name, args, parts)).rejects.toThrow(UnknownOperation))

test('what a person confirmed is done only if it is still so', async () => {
  const compared = { server: '73', entries: 9, behind: [], orphans: [], doubtful: ['a.test'], unknown: [], stray: [] }
  const confirmed: unknown[] = []
  let edges = [compared]
  const converge = { compare: async () => edges, confirm: async (edge: unknown) => void confirmed.push(edge) }
  const using = { converge } as unknown as OperationParts
  const { seen } = (await perform('compareEdges', {}, using)) as { seen: string }
  edges = [{ ...compared, doubtful: ['a.test', 'b.test'] }]
  await expect(perform('confirmRemoval', { seen }, using)).rejects.toThrow('Nothing was done')
  expect(confirmed).toEqual([])
  edges = [compared]
  await perform('confirmRemoval', { seen }, using)
  expect(confirmed).toEqual([compared])
})

test('a confirmation is of what was shown', async () => {
  const settled: unknown[] = []
  let waiting = [{ host: 'a.test', why: 'end', edge: undefined }]
  const converge = { waiting: async () => waiting, settle: async (hosts: unknown) => void settled.push(hosts) }
  const using = { converge } as unknown as OperationParts
  const { seen } = (await perform('waiting', {}, using)) as { seen: string }
  waiting = [...waiting, { host: 'b.test', why: 'gone', edge: '73' as never }]
  await expect(perform('settle', { seen }, using)).rejects.toThrow('Nothing was done')
  await expect(perform('waiting', { host: 'c.test' }, using)).rejects.toThrow('does not wait')
  const one = (await perform('waiting', { host: 'b.test' }, using)) as { seen: string }
  await perform('settle', { host: 'b.test', seen: one.seen }, using)
  expect(settled).toEqual([['b.test']])
})
