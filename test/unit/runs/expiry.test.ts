import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { RunResult } from '../../../src/runs/engine/ending.ts'
import { Expiry } from '../../../src/runs/expiry.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { Exposure } from '../../../src/store/ports/exposures.ts'

/** The exposer is a stand-in: each host's removal ends as the test says. */
const STATE = { state: 'applied', fence: 1, since: 0, expiresAt: 0 } as const
const exposure = (host: string): Exposure => ({ host, planId: host, ...STATE })
const ended = (kind: 'succeeded' | 'rolled_back') => Promise.resolve({ outcome: { kind } } as RunResult)

function expiryOf(endOf: (host: string) => Promise<RunResult> | undefined) {
  const state = { now: 0, setBack: 0, due: [] as string[], tried: [] as string[] }
  const expiry = new Expiry({
    store: { exposuresDue: async () => state.due.map(exposure) },
    exposer: {
      async expire(planId) {
        state.tried.push(planId)
        const result = endOf(planId)
        return result && { result }
      },
    },
    log: createLog('silent', []),
    clock: { now: () => state.now - state.setBack, monotonic: () => state.now },
  })
  const look = async () => {
    state.tried = []
    await expiry.removeDue()
    await turn()
    return state.tried
  }
  return { state, look, removeAllDue: () => expiry.removeAllDue() }
}

const never = () => new Promise<RunResult>(() => undefined)

test('removals that never end keep no other exposure alive', async () => {
  const { state, look } = expiryOf((host) => (host.startsWith('stuck') ? never() : ended('succeeded')))
  state.due = ['stuck-1', 'stuck-2', 'free-1']
  expect(await look()).toEqual(['stuck-1', 'stuck-2', 'free-1'])
  state.due = ['stuck-1', 'stuck-2', 'free-2']
  expect(await look()).toEqual(['free-2'])
})

test('removals that fail are tried again ever more rarely, behind those that never failed, and never take all places', async () => {
  const { state, look } = expiryOf((host) => (host.startsWith('ill') ? ended('rolled_back') : ended('succeeded')))
  state.due = Array.from({ length: 30 }, (_, i) => `ill-${i}`)
  expect(await look()).toHaveLength(16)
  expect(await look()).toHaveLength(14)
  state.now = 2_000
  state.due.push('well')
  expect(await look()).toEqual(['well', 'ill-0', 'ill-1', 'ill-2', 'ill-3'])
  state.now = 4_000
  expect(await look()).not.toContain('ill-0')
  state.now = 6_000
  expect((await look()).length).toBeLessThanOrEqual(5)
})

test('a removal that failed is tried again after its pause, although the clock is set back', async () => {
  const { state, look } = expiryOf(() => ended('rolled_back'))
  state.due = ['ill']
  expect(await look()).toEqual(['ill'])
  state.setBack = 86_400_000
  expect(await look()).toEqual([])
  state.now = 2_000
  expect(await look()).toEqual(['ill'])
})

test('one that was prolonged after all is not counted as failed', async () => {
  const { state, look } = expiryOf(() => undefined)
  state.due = ['prolonged']
  expect(await look()).toEqual(['prolonged'])
  expect(await look()).toEqual(['prolonged'])
})

test('by request everything that is due is tried once, and what another run holds is left to the next time', async () => {
  const { state, removeAllDue } = expiryOf((host) => {
    if (host === 'held') return undefined
    state.due = state.due.filter((one) => one !== host)
    return ended('succeeded')
  })
  // More than are removed at once.
  const free = Array.from({ length: 20 }, (_, i) => `free-${i}`)
  state.due = ['held', ...free]
  expect(await removeAllDue()).toEqual({ removed: free, failed: [], waiting: 0 })
  expect(state.tried).toEqual(['held', ...free])
})
