import { expect, test } from 'vitest'
import { Problem } from '../../../src/model/errors.ts'
import { Reach } from '../../../src/runs/reach.ts'
import { nextTurn, stall } from '../../support/stall.ts'

/** The reach of an instance whose edge answers from this question on. */
const reachOf = (answersFrom: number, more: Partial<ConstructorParameters<typeof Reach>[0]> = {}) => {
  let asked = 0
  const generation = async (): Promise<never> => {
    asked += 1
    if (asked < answersFrom) throw new Error('The agent does not answer.')
    return undefined as never
  }
  return new Reach({
    primary: { server: '23', generation },
    secondary: undefined,
    primaryServer: '23',
    instance: 'instance-a',
    store: { liveInstances: async () => [] },
    now: () => 0,
    ...more,
  })
}

test('a request waits for an agent that is being started again', async () => {
  expect(await reachOf(4).place()).toBe('here')
})

test('an edge is not called away because this process was late', async () => {
  const patienceMs = 100
  const generation = async () => {
    await nextTurn()
    stall(5 * patienceMs)
    await nextTurn()
    return undefined as never
  }
  expect(await reachOf(1, { primary: { server: '23', generation }, patienceMs }).servers()).toEqual(['23'])
})

test('an edge that does not answer is not waited for without an end', async () => {
  const generation = () => new Promise<never>(() => undefined)
  expect(await reachOf(1, { primary: { server: '23', generation }, patienceMs: 20 }).servers()).toEqual([])
})

test('a request is refused when no agent comes back', async () => {
  const refused = await reachOf(Number.POSITIVE_INFINITY, { restartMs: 300 }).place()
  expect(refused).toBeInstanceOf(Problem)
  expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining('edge 23') })
})
