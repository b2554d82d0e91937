import { expect, test } from 'vitest'
import { Slots } from '../../../src/primitives/slots.ts'

/** Work that ends when it is told to. */
function workbench() {
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const work = (name: string) => () => {
    begun.push(name)
    const end = Promise.withResolvers<string>()
    ends.set(name, end)
    return end.promise
  }
  const end = (name: string) => ends.get(name)?.resolve(name)
  return { begun, work, end, fail: (name: string) => ends.get(name)?.reject(new Error(name)) }
}

test('at most so many pieces of work run, the others begin in order as slots become free, also after a failure', async () => {
  const slots = new Slots(2)
  const { begun, work, end, fail } = workbench()
  const all = Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => slots.run(work(name))))
  expect(begun).toEqual(['a', 'b'])
  fail('b')
  await expect.poll(() => begun).toEqual(['a', 'b', 'c'])
  end('c')
  await expect.poll(() => begun).toEqual(['a', 'b', 'c', 'd'])
  end('a')
  end('d')
  expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
})

test('an abort takes waiting work out of the queue and leaves work that runs alone', async () => {
  const slots = new Slots(1)
  const { begun, work, end } = workbench()
  const controller = new AbortController()
  const reason = new Error('the run must stop')
  const first = slots.run(work('first'), controller.signal)
  const leaving = slots.run(work('leaving'), controller.signal)
  const staying = slots.run(work('staying'))
  controller.abort(reason)
  await expect(leaving).rejects.toBe(reason)
  await expect(slots.run(work('late'), controller.signal)).rejects.toBe(reason)
  end('first')
  expect(await first).toBe('first')
  await expect.poll(() => begun).toEqual(['first', 'staying'])
  end('staying')
  await staying
})

test('what waits can be rejected together, and what comes later begins', async () => {
  const slots = new Slots(1)
  const { begun, work, end } = workbench()
  const reason = new Error('the authority does not answer')
  const first = slots.run(work('first'))
  const waiting = [slots.run(work('a')), slots.run(work('b'))]
  slots.rejectWaiting(reason)
  for (const each of waiting) await expect(each).rejects.toBe(reason)
  const later = slots.run(work('later'))
  end('first')
  await first
  await expect.poll(() => begun).toEqual(['first', 'later'])
  end('later')
  await later
})
