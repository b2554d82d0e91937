import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { untilAborted } from '../../../src/primitives/abort.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { FairClock } from '../../../src/primitives/fair-clock.ts'
import { poll, retry } from '../../../src/primitives/retry.ts'

const REASON = new Error('it took too long')
const FOR_EVER = new Promise<never>(() => undefined)
const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

/** A signal that aborts in a moment. */
function soon(): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(REASON), 5)
  return controller.signal
}

test('a wait with a signal ends with the reason, and leaves no listener', async () => {
  const signal = soon()
  await expect(untilAborted(FOR_EVER, signal)).rejects.toBe(REASON)
  await expect(untilAborted(FOR_EVER, AbortSignal.abort(REASON))).rejects.toBe(REASON)
  expect(listeners(signal)).toBe(0)
})

test('a wait with a signal settles as the work does, and leaves no listener', async () => {
  const { signal } = new AbortController()
  expect(await untilAborted(Promise.resolve(7), signal)).toBe(7)
  expect(await untilAborted(Promise.resolve(8), undefined)).toBe(8)
  await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken')
  expect(listeners(signal)).toBe(0)
})

describe('poll', () => {
  const polled = (read: () => unknown, firstMs: number, signal: AbortSignal) =>
    expect(poll(read, () => false, { firstMs, signal, clock: systemClock })).rejects.toBe(REASON)

  test('ends in a pause', async () => {
    const signal = soon()
    await polled(() => 1, 600_000, signal)
    expect(listeners(signal)).toBe(0)
  })

  test('ends in a try that does not', () => polled(() => FOR_EVER, 1, soon()))

  test('makes no try after the abort', async () => {
    const read = vi.fn()
    await polled(read, 1, AbortSignal.abort(REASON))
    expect(read).not.toHaveBeenCalled()
  })

  test('finds what it finds with a signal that does not abort', async () => {
    const { signal } = new AbortController()
    const third = (value: number) => value === 3
    expect(await poll((attempt) => attempt, third, { firstMs: 1, signal, clock: systemClock })).toBe(3)
    expect(listeners(signal)).toBe(0)
  })
})

test('retry ends with the reason, whatever the error of the work is', async () => {
  const signal = soon()
  const work = async () => {
    await untilAborted(sleep(1), signal)
    throw new Error('busy')
  }
  await expect(retry(work, () => true, { firstMs: 1, signal, clock: systemClock })).rejects.toBe(REASON)
})

describe('the limit of a clock', () => {
  test('comes with the abort, once and not before it is set', async () => {
    using clock = new FairClock()
    const ends: string[] = []
    const controller = new AbortController()
    clock.limit(600_000, () => ends.push('running'), controller.signal)
    controller.abort(REASON)
    expect(ends).toEqual(['running'])
    clock.limit(600_000, () => ends.push('aborted before'), controller.signal)
    expect(ends).toEqual(['running'])
    await expect.poll(() => ends).toEqual(['running', 'aborted before'])
    expect(listeners(controller.signal)).toBe(0)
  })

  test('does not come a second time', async () => {
    using clock = new FairClock()
    const controller = new AbortController()
    const end = vi.fn()
    clock.limit(1, end, controller.signal)
    await expect.poll(() => end.mock.calls.length).toBe(1)
    controller.abort(REASON)
    expect(end).toHaveBeenCalledOnce()
  })

  test('does not come after it was cancelled or the clock was stopped', () => {
    const clock = new FairClock()
    const controller = new AbortController()
    const end = vi.fn()
    clock.limit(600_000, end, controller.signal)()
    clock.limit(600_000, end, controller.signal)
    clock.stop()
    expect(listeners(controller.signal)).toBe(0)
    controller.abort(REASON)
    expect(end).not.toHaveBeenCalled()
  })
})
