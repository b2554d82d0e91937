import fastify, { type FastifyRequest } from 'fastify'
import { expect, test, vi } from 'vitest'
import { createBudgets } from '../../../../src/http/guard/rate-limit.ts'
import { VirtualClock } from '../../../support/virtual-clock.ts'

const HOUR = 3_600_000
const budget = { plan: 1, diagnose: 1, read: 1, failedCredential: 1 }
const request = (address: string) =>
  ({ caller: { network: 'public', address }, routeOptions: {} }) as unknown as FastifyRequest

/** The clock of the machine follows the one that the test moves. */
test('a caller waits a minute at most, also when the clock of the machine was ahead and is set back', async () => {
  const clock = new VirtualClock()
  const machine = vi.spyOn(Date, 'now').mockImplementation(clock.now)
  try {
    await using app = fastify()
    const budgets = await createBudgets(app, () => ({ public: budget, internal: budget }), clock, undefined)
    await app.ready()
    const [planner, guesser] = [request('192.0.2.1'), request('192.0.2.2')]
    for (const [caller, kind] of [
      [planner, 'plan'],
      [guesser, 'failedCredential'],
    ] as const) {
      await budgets.spend(caller, kind)
      await expect(budgets.spend(caller, kind)).rejects.toMatchObject({
        code: 'rate_limited',
        members: { retryAfter: 60 },
      })
    }
    expect(() => budgets.refuseAfterFailures(guesser)).toThrow()
    clock.setBack(HOUR)
    await clock.advance(59_999)
    expect(() => budgets.refuseAfterFailures(guesser)).toThrow()
    await expect(budgets.spend(planner, 'plan')).rejects.toMatchObject({ members: { retryAfter: 1 } })
    await clock.advance(1)
    budgets.refuseAfterFailures(guesser)
    await budgets.spend(planner, 'plan')
  } finally {
    machine.mockRestore()
  }
})
