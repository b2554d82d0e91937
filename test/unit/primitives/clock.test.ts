import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../../src/primitives/clock.ts'
import { SharedPoll, WakeUp, wokenWithin } from '../../../src/primitives/followers.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const virtual = (): { clock: Clock; advance: (ms: number) => Promise<void> } => {
  const clock = new VirtualClock()
  return { clock, advance: (ms) => clock.advance(ms) }
}
const real = () => ({ clock: systemClock, advance: (ms: number) => systemClock.sleep(ms) })

describe.each(Object.entries({ 'the clock of the machine': real, 'a virtual clock': virtual }))('%s', (_, make) => {
  test('calls timers in the order in which they are due, and none that was cancelled', async () => {
    const { clock, advance } = make()
    const calls: string[] = []
    const late = clock.after(20, () => calls.push('late'))
    clock.after(5, () => calls.push('second'), { ref: false })
    clock.after(1, () => calls.push('first'))
    late.cancel()
    late.cancel()
    await advance(40)
    expect(calls).toEqual(['first', 'second'])
  })

  test('calls again until it is cancelled', async () => {
    const { clock, advance } = make()
    let calls = 0
    const timer = clock.every(2, () => {
      calls += 1
      if (calls === 3) timer.cancel()
    })
    await advance(60)
    expect(calls).toBe(3)
  })

  test('moves both of its times on, which can be passed on by themselves', async () => {
    const { clock, advance } = make()
    const { now, monotonic } = clock
    const before = [now(), monotonic()]
    await advance(10)
    expect([now(), monotonic()].map((time, at) => time - (before[at] ?? 0) >= 9)).toEqual([true, true])
  })

  test('ends a sleep with the signal, and leaves no listener', async () => {
    const { clock } = make()
    const controller = new AbortController()
    const slept = clock.sleep(600_000, { signal: controller.signal })
    controller.abort()
    await slept
    await clock.sleep(600_000, { signal: controller.signal, ref: false })
  })

  test('aborts a signal after its time, as a timeout', async () => {
    const { clock, advance } = make()
    const signal = clock.timeout(5)
    expect(signal.aborted).toBe(false)
    await advance(40)
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
  })
})

describe('a virtual clock', () => {
  test('stands still', async () => {
    const clock = new VirtualClock(1_000)
    await clock.turn()
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0])
  })

  test('calls what is set meanwhile at its own time, after promises have settled', async () => {
    const clock = new VirtualClock(0)
    const times: number[] = []
    const work = async () => {
      await clock.sleep(10)
      times.push(clock.now())
      await clock.sleep(20)
      times.push(clock.now())
    }
    void work()
    await clock.advance(29)
    expect([times, clock.now()]).toEqual([[10], 29])
    await clock.advance(1)
    expect([times, clock.pending]).toEqual([[10, 30], 0])
  })

  test('moves as far as something needs, and says when nothing is left to wait for', async () => {
    const clock = new VirtualClock(0)
    await clock.advanceUntil(clock.sleep(3_600_000))
    expect(clock.now()).toBe(3_600_000)
    await expect(clock.advanceUntil(Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    await expect(clock.advanceUntil(new Promise(() => undefined))).rejects.toThrow('Nothing is left')
  })
})

test('followers are woken by a call, by the end of the time, and by their signal', async () => {
  const clock = new VirtualClock()
  const [called, timed, aborted] = [new WakeUp(), new WakeUp(), new WakeUp()]
  const controller = new AbortController()
  const woken: string[] = []
  void wokenWithin(called, 100, clock).then(() => woken.push('called'))
  void wokenWithin(timed, 100, clock).then(() => woken.push('timed'))
  void wokenWithin(aborted, 100, clock, controller.signal).then(() => woken.push('aborted'))
  called.call()
  controller.abort()
  await clock.turn()
  expect(woken.toSorted()).toEqual(['aborted', 'called'])
  await clock.advance(100)
  expect(woken.toSorted()).toEqual(['aborted', 'called', 'timed'])
  expect(clock.pending).toBe(0)
})

test('followers share one read at a time, and nobody reads when the last one has left', async () => {
  const clock = new VirtualClock()
  let reads = 0
  const poll = new SharedPoll(
    () => 100,
    async () => {
      reads += 1
    },
    clock,
  )
  for (let i = 0; i < 3; i += 1) poll.join()
  await clock.advance(250)
  expect(reads).toBe(2)
  poll.soon()
  await clock.advance(1)
  expect(reads).toBe(3)
  for (let i = 0; i < 3; i += 1) poll.leave()
  await clock.advance(1_000)
  expect([reads, clock.pending]).toEqual([3, 0])
})
