import { expect, test, vi } from 'vitest'
import { Acceptance } from '../../../src/edge/agent/acceptance.ts'
import { Changes } from '../../../src/edge/agent/changes.ts'
import type { Change } from '../../../src/edge/contract/change.ts'
import type { Edge } from '../../../src/edge/contract/edge.ts'
import type { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { changeThrough } from '../../../src/edge/remote/remote-change.ts'
import type { WireChange } from '../../../src/edge/wire/verbs.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { DESCRIPTION } from '../../support/edge/lying-agent.ts'

/** An agent on a stand-in for its edge, which makes each change when the test lets it. */
function agent() {
  const gate = Promise.withResolvers<void>()
  const made: Change[] = []
  const change: Edge['change'] = async (asked, { assertHeld } = {}) => {
    await gate.promise
    assertHeld?.()
    made.push(asked)
    return asked.items.map(({ host }) => ({ host, state: 'serving', generation: 2, revision: '' }))
  }
  const row = { entry: null, revision: null, fence: null, drift: [], file: '', line: null }
  const list: Edge['list'] = async (hosts = []) => ({
    ...{ generation: '1', number: 1, stray: [] },
    hosts: hosts.map((host) => ({ host, ...row })),
  })
  const changes = new Changes({
    edge: { change },
    acceptance: new Acceptance({
      targets: { addresses: ['127.0.0.1'], ports: [[1, 9]] },
      machine: { entryOf: () => undefined },
      ...{ edge: { list }, adopts: false, zones: ['lab.test'] },
    }),
    onUnexpected: () => undefined,
    clock: systemClock,
  })
  return { changes, made, go: gate.resolve }
}

const HOST = 'shop.lab.test'
const FENCE = { host: HOST, epoch: 1, number: 1 }
const REMOVAL = { host: HOST, fence: FENCE, expected: 'any', wanted: 'absent' } as const
const asked = (id: string, heldForMs: number | null = null, items: WireChange['items'] = [REMOVAL]): WireChange => ({
  ...{ id, heldForMs, items },
})
const DONE = { state: 'done', hosts: [{ host: HOST, state: 'serving', generation: 2, revision: '' }] }
const nothing = () => undefined

test('a change that comes twice is made once, and both get its verdict', async () => {
  const { changes, made, go } = agent()
  const both = [changes.carryOut(asked('1'), nothing), changes.carryOut(asked('1'), nothing)]
  go()
  expect(await Promise.all(both)).toEqual([DONE, DONE])
  expect(await changes.verdictOf('1')).toEqual(DONE)
  expect(made).toHaveLength(1)
})

test('a change that its sender has given up is refused when it comes', async () => {
  const { changes, made, go } = agent()
  go()
  expect(await changes.verdictOf('1')).toEqual({ state: 'unknown' })
  expect(await changes.carryOut(asked('1'), nothing)).toMatchObject({ state: 'refused' })
  expect(made).toEqual([])
})

test('a change is late when the lease of its run has ended meanwhile', async () => {
  vi.useFakeTimers()
  try {
    const { changes, made, go } = agent()
    const verdict = changes.carryOut(asked('1', 1_000), nothing)
    await vi.advanceTimersByTimeAsync(1_000)
    go()
    expect(await verdict).toEqual({ state: 'late' })
    expect(made).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test('what the agent does not accept is not made', async () => {
  const { changes, made, go } = agent()
  go()
  const item = { ...REMOVAL, host: 'shop.other.test', fence: { ...FENCE, host: 'shop.other.test' } }
  const verdict = await changes.carryOut(asked('1', null, [item]), nothing)
  expect(verdict).toMatchObject({ state: 'refused', fault: { kind: 'change_invalid' } })
  expect(made).toEqual([])
})

test('a change of a host is made only under the fence of that host, and names each host once', async () => {
  const { changes, made, go } = agent()
  go()
  const under = (id: string, ...items: WireChange['items']) => changes.carryOut(asked(id, null, items), nothing)
  const foreign = { ...REMOVAL, fence: { ...FENCE, host: 'other.lab.test' } }
  for (const verdict of [under('1', foreign), under('2', REMOVAL, foreign), under('3', REMOVAL, REMOVAL)])
    expect(await verdict).toMatchObject({ state: 'refused', fault: { kind: 'change_invalid' } })
  expect(made).toEqual([])
  expect(await under('4', REMOVAL)).toEqual(DONE)
})

test('a change that its sender gives up while it waits is not entered, and one that is entered is told so', async () => {
  const { changes, made, go } = agent()
  const verdict = changes.carryOut(asked('1'), nothing)
  const withdrawn = changes.withdraw('1')
  go()
  expect([await verdict, await withdrawn]).toMatchObject([{ state: 'refused' }, { state: 'refused' }])
  expect(made).toEqual([])
  expect(await changes.carryOut(asked('2'), nothing)).toEqual(DONE)
  expect(await changes.withdraw('2')).toEqual(DONE)
})

test('a sender that gives a change up withdraws it, and goes on when its verdict is there', async () => {
  const { changes, made, go } = agent()
  const arrived = Promise.withResolvers<void>()
  const client = {
    ...{ server: '73', clock: systemClock, describe: async () => DESCRIPTION },
    change: (change: WireChange | { readonly id: string; readonly withdraw: boolean }) => {
      if ('items' in change) {
        arrived.resolve()
        return changes.carryOut(change, nothing)
      }
      const verdict = change.withdraw ? changes.withdraw(change.id) : changes.verdictOf(change.id)
      go()
      return verdict
    },
  } as unknown as AgentClient
  const ending = new AbortController()
  const changing = changeThrough(client, { items: [REMOVAL] }, { signal: ending.signal })
  await arrived.promise
  const fault = new Error('The run was undone.')
  ending.abort(fault)
  await expect(changing).rejects.toBe(fault)
  go()
  await Promise.resolve()
  expect(made).toEqual([])
})
