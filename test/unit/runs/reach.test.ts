import { expect, test } from 'vitest'
import { Problem } from '../../../src/model/errors.ts'
import { Reach } from '../../../src/runs/reach.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** The reach of an instance whose edge answers from this question on. */
const reachOf = (answersFrom: number, clock: VirtualClock) => {
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
    clock,
  })
}

test('a request waits for an agent that is being started again', async () => {
  const clock = new VirtualClock()
  expect(await clock.advanceUntil(reachOf(4, clock).place())).toBe('here')
})

test('a request is refused when no agent comes back', async () => {
  const clock = new VirtualClock()
  const refused = await clock.advanceUntil(reachOf(Number.POSITIVE_INFINITY, clock).place())
  expect(refused).toBeInstanceOf(Problem)
  expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining('edge 23') })
})
