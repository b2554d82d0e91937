import { expect, test } from 'vitest'
import { Problem } from '../../../src/model/errors.ts'
import { Reach } from '../../../src/runs/reach.ts'

/** The reach of an instance whose edge answers from this question on. */
const reachOf = (answersFrom: number) => {
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
  })
}

test('a request waits for an agent that is being started again', async () => {
  expect(await reachOf(4).place()).toBe('here')
})

test('a request is refused when no agent comes back', { timeout: 15_000 }, async () => {
  const refused = await reachOf(Number.POSITIVE_INFINITY).place()
  expect(refused).toBeInstanceOf(Problem)
  expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining('edge 23') })
})
