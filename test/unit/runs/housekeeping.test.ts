import { expect, test, vi } from 'vitest'
import { systemClock } from '../../../src/primitives/clock.ts'
import type { Converge, Converged } from '../../../src/runs/converge.ts'
import { aloneOnDuty, type Duty } from '../../../src/runs/engine/duty.ts'
import { housekeeping } from '../../../src/runs/housekeeping.ts'
import { createLog } from '../../../src/runtime/log.ts'

/** Only the duty converge is asked of it. Its look is a stand-in that ends when the test says. */
function housekeepingOf(duty: Duty) {
  const looks: PromiseWithResolvers<readonly Converged[]>[] = []
  const look = () => {
    const begun = Promise.withResolvers<readonly Converged[]>()
    looks.push(begun)
    return begun.promise
  }
  const tryAll = vi.fn()
  const converge = { reconcile: look, isAway: true, tryAll } as unknown as Converge
  const parts = { converge, duty, log: createLog('silent', []), clock: systemClock }
  return { looks, tryAll, ...housekeeping(parts as unknown as Parameters<typeof housekeeping>[0]) }
}
const wrote = (...hosts: string[]): Converged[] => [{ server: '73', hosts, outOfStep: undefined }]
/** Lets everything go on that waits for nothing but promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a request during a look gets the next look, and all requests of that time share it', async () => {
  const { looks, tryAll, perform, converge, convergeIfAway } = housekeepingOf(aloneOnDuty)
  const byTimer = converge()
  await settled()
  expect(tryAll).not.toHaveBeenCalled()
  const asked = [perform('converge'), perform('converge'), convergeIfAway()]
  await settled()
  expect(tryAll).toHaveBeenCalled()
  expect(looks).toHaveLength(1)
  looks[0]?.resolve(wrote('before.test'))
  expect(await byTimer).toEqual(wrote('before.test'))
  await settled()
  expect(looks).toHaveLength(2)
  looks[1]?.resolve(wrote('after.test'))
  const [one, two] = await Promise.all(asked)
  expect(one).toMatchObject({ hosts: ['after.test'], sentence: 'converge: 1 host brought into step on edge 73.' })
  expect(two).toEqual(one)
  expect(looks).toHaveLength(2)
})

test('a request waits for another instance that does the same', async () => {
  let isElsewhere = true
  const { looks, perform } = housekeepingOf(async (_name, work) => {
    if (!isElsewhere) return work()
    isElsewhere = false
    return undefined
  })
  const asked = perform('converge')
  await expect.poll(() => looks.length).toBe(1)
  looks[0]?.resolve([])
  expect(await asked).toMatchObject({ ok: true, sentence: 'converge: every edge is in step.' })
})

test('a duty that rejects is told as a failure', async () => {
  const { looks, perform } = housekeepingOf(aloneOnDuty)
  const asked = perform('converge')
  await settled()
  looks[0]?.reject(new Error('gone'))
  expect(await asked).toMatchObject({ duty: 'converge', ok: false })
})
