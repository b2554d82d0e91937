import { expect, test, vi } from 'vitest'
import { Changes } from '../../../src/edge/agent/changes.ts'
import { type EdgeChange, EdgeFault, type EdgeProposal } from '../../../src/edge/contract.ts'
import type { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { changeThrough } from '../../../src/edge/remote/remote-change.ts'
import type { WireChange } from '../../../src/edge/wire/verbs.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { DESCRIPTION } from '../../support/edge/lying-agent.ts'

/** An agent on a stand-in for its edge, which makes each change when the test lets it. */
function agent({ accepts = true } = {}) {
  const gate = Promise.withResolvers<void>()
  const made: EdgeChange[] = []
  const change = async ({ propose, assertHeld }: EdgeProposal) => {
    const proposed = await propose()
    await gate.promise
    assertHeld()
    made.push(proposed)
  }
  const assertAcceptable = async () => {
    if (!accepts) throw new EdgeFault('change_invalid', 'The agent does not accept it.')
  }
  const changes = new Changes({
    edge: { change },
    acceptance: {
      assertAcceptable,
      assertFenceable: async () => undefined,
      fencedHost: ({ path }) => /[a-z]+\.lab\.test/.exec(path)?.[0],
      noteWritten: async () => undefined,
    },
    onUnexpected: () => undefined,
    clock: systemClock,
  })
  return { changes, made, go: gate.resolve }
}

const asked = (id: string, heldForMs: number | null = null): WireChange => ({
  ...{ id, heldForMs, files: [], expected: [], fences: [], replacesLinks: false, mends: false },
})
const nothing = () => undefined

test('a change that comes twice is made once, and both get its verdict', async () => {
  const { changes, made, go } = agent()
  const both = [changes.carryOut(asked('1'), nothing), changes.carryOut(asked('1'), nothing)]
  go()
  expect(await Promise.all(both)).toEqual([{ state: 'done' }, { state: 'done' }])
  expect(await changes.verdictOf('1')).toEqual({ state: 'done' })
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
  const { changes, made, go } = agent({ accepts: false })
  go()
  expect(await changes.carryOut(asked('1'), nothing)).toMatchObject({
    state: 'refused',
    fault: { kind: 'change_invalid' },
  })
  expect(made).toEqual([])
})

test('a change of a host is made only under one fence of that host', async () => {
  const { changes, made, go } = agent()
  go()
  const host = 'shop.lab.test'
  const files = [`entries/${host}`, `tls/hosts/${host}.map`].map((path) => ({ path, content: null, secret: false }))
  const under = (id: string, ...fences: WireChange['fences']) =>
    changes.carryOut({ ...asked(id), files, fences }, nothing)
  const fence = { host, epoch: 1, number: 1 }
  for (const verdict of [under('1'), under('2', { ...fence, host: 'other.lab.test' }), under('3', fence, fence)])
    expect(await verdict).toMatchObject({ state: 'refused', fault: { kind: 'change_invalid' } })
  expect(made).toEqual([])
  expect(await under('4', fence)).toEqual({ state: 'done' })
})

test('a change that its sender gives up while it waits is not entered, and one that is entered is told so', async () => {
  const { changes, made, go } = agent()
  const verdict = changes.carryOut(asked('1'), nothing)
  const withdrawn = changes.withdraw('1')
  go()
  expect([await verdict, await withdrawn]).toMatchObject([{ state: 'refused' }, { state: 'refused' }])
  expect(made).toEqual([])
  expect(await changes.carryOut(asked('2'), nothing)).toEqual({ state: 'done' })
  expect(await changes.withdraw('2')).toEqual({ state: 'done' })
})

test('a sender that gives a change up withdraws it, and goes on when its verdict is there', async () => {
  const { changes, made, go } = agent()
  const arrived = Promise.withResolvers<void>()
  const client = {
    ...{ server: '73', clock: systemClock, describe: async () => DESCRIPTION },
    change: (change: WireChange) => {
      arrived.resolve()
      return changes.carryOut(change, nothing)
    },
    call: async (verb: string, { id }: { id: string }) => {
      const verdict = verb === 'withdraw' ? changes.withdraw(id) : changes.verdictOf(id)
      go()
      return verdict
    },
  } as unknown as AgentClient
  const ending = new AbortController()
  const changing = changeThrough(client, {
    propose: async () => ({ files: [], expected: [] }),
    assertHeld: () => undefined,
    fences: [],
    signal: ending.signal,
  })
  await arrived.promise
  const fault = new Error('The run was undone.')
  ending.abort(fault)
  await expect(changing).rejects.toBe(fault)
  go()
  await Promise.resolve()
  expect(made).toEqual([])
})
