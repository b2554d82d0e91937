import { expect, test } from 'vitest'
import { EdgeFault, OwnedElsewhere } from '../../../src/edge/contract/fault.ts'
import { Problem } from '../../../src/model/errors.ts'
import { type Clock, systemClock } from '../../../src/primitives/clock.ts'
import { EdgeAvailability } from '../../../src/runs/edge-availability.ts'
import type { Instance } from '../../../src/store/ports/instances.ts'
import { nextTurn, stall } from '../../support/stall.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

/** An instance whose edge answers from this question on. */
const availabilityOf = (
  answersFrom: number,
  clock: Clock,
  more: Partial<ConstructorParameters<typeof EdgeAvailability>[0]> = {},
) => {
  let asked = 0
  const list = async (): Promise<never> => {
    asked += 1
    if (asked < answersFrom) throw new Error('The agent does not answer.')
    return undefined as never
  }
  return new EdgeAvailability({
    ...{ primary: { server: '23', list }, secondary: undefined, primaryServer: '23', instance: 'instance-a' },
    ...{ store: { liveInstances: async () => [] }, clock, ...more },
  })
}

test('a request waits for an agent that is being started again', async () => {
  const clock = new VirtualClock()
  expect(await clock.advanceUntil(availabilityOf(4, clock).place())).toBe('here')
})

test('an edge that another process owns is not reached, and the refusal says who owns it', async () => {
  const clock = new VirtualClock()
  const own = () => {
    throw new OwnedElsewhere('Edge 23 belongs to process 7.')
  }
  const owned = (more: Partial<ConstructorParameters<typeof EdgeAvailability>[0]> = {}) =>
    availabilityOf(1, clock, { own, ...more })
  expect(await owned().servers()).toEqual([])
  const refusal = await clock.advanceUntil(owned().refusal())
  expect(refusal?.message).toBe('Edge 23 is not prepared: Edge 23 belongs to process 7.')
  const owner = { name: 'instance-b', edges: ['23'] } as unknown as Instance
  expect(await owned({ store: { liveInstances: async () => [owner] } }).place()).toBe('elsewhere')
})

test('an agent that answers and cannot be used is not waited for without an end, and the refusal says why', async () => {
  const clock = new VirtualClock()
  const told = 'The agent of edge 23 does not know "list". Its hosts stay served. Upgrade the agent on 23.'
  const list = () => Promise.reject(new EdgeFault('unavailable', told))
  const older = availabilityOf(1, clock, { primary: { server: '23', list } })
  expect(await clock.advanceUntil(older.refusal())).toMatchObject({ code: 'unavailable', message: told })
})

test('an edge is not called away because this process was late', async () => {
  const patienceMs = 100
  const list = async () => {
    await nextTurn()
    stall(5 * patienceMs)
    await nextTurn()
    return undefined as never
  }
  const late = availabilityOf(1, systemClock, { primary: { server: '23', list }, patienceMs })
  expect(await late.servers()).toEqual(['23'])
})

test('an edge that does not answer is not waited for without an end', async () => {
  const clock = new VirtualClock()
  const list = () => new Promise<never>(() => undefined)
  const silent = availabilityOf(1, clock, { primary: { server: '23', list } })
  expect(await clock.advanceUntil(silent.servers())).toEqual([])
})

test('a request is refused when no agent comes back', async () => {
  const clock = new VirtualClock()
  const refused = await clock.advanceUntil(availabilityOf(Number.POSITIVE_INFINITY, clock).place())
  expect(refused).toBeInstanceOf(Problem)
  expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining('edge 23') })
})
