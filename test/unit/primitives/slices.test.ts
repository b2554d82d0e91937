import { expect, test } from 'vitest'
import { Slices } from '../../../src/primitives/slices.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

test('a slice is over after its time, and the next one begins with its turn', async () => {
  const clock = new VirtualClock()
  const slices = new Slices(clock)
  await clock.advance(4)
  expect(slices.isOver).toBe(false)
  await clock.advance(1)
  expect(slices.isOver).toBe(true)
  await slices.next()
  expect(slices.isOver).toBe(false)
})

test('of several pieces of work one slice runs in each turn of the event loop, and none is left out', async () => {
  const clock = new VirtualClock()
  const ran: { readonly work: number; readonly turn: number }[] = []
  let turn = 0
  const count = () => {
    turn += 1
    if (ran.length < 9) setImmediate(count)
  }
  setImmediate(count)
  const divided = async (work: number) => {
    const slices = new Slices(clock)
    for (let at = 0; at < 3; at += 1) {
      await slices.next()
      ran.push({ work, turn })
    }
  }
  await Promise.all([1, 2, 3].map(divided))
  expect(new Set(ran.map((one) => one.turn)).size).toBe(9)
  expect(ran.map(({ work }) => work)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3])
})

test('pieces of work that follow each other in one turn share its slice', async () => {
  let time = 0
  const clock = { ...new VirtualClock(), monotonic: () => time }
  const first = new Slices(clock)
  time = 3
  expect(first.isOver).toBe(false)
  const second = new Slices(clock)
  time = 5
  expect([first.isOver, second.isOver]).toEqual([true, true])
  await second.next()
  expect([second.isOver, new Slices(clock).isOver]).toEqual([false, false])
})
