import { expect, test } from 'vitest'
import type { Health } from '../../../src/client/bodies.ts'
import { waitForHost } from '../../../src/client/wait.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const HOST = 'hello.lab.test'
const at = (badge: Health['badge']) => ({ host: HOST, badge }) as Health

test('a host is asked for soon at first, and once a second in the end, until its time is over', async () => {
  const clock = new VirtualClock()
  const asked: number[] = []
  const health = async () => {
    asked.push(clock.monotonic())
    return at('PENDING')
  }
  const waited = await clock.advanceUntil(waitForHost({ health, clock }, HOST, { timeoutMs: 4_000 }))
  expect(waited).toEqual({ reached: false, health: at('PENDING') })
  expect(asked).toEqual([0, 100, 300, 700, 1_500, 2_500, 3_500, 4_000])
})

test('a host that is ready is told at the next question', async () => {
  const clock = new VirtualClock()
  const health = async () => at(clock.monotonic() < 250 ? 'DOWN' : 'RUNNING')
  const seen: string[] = []
  const onChange = ({ badge }: Health) => seen.push(badge)
  const waited = await clock.advanceUntil(waitForHost({ health, clock }, HOST, { onChange }))
  expect([waited.reached, clock.monotonic(), seen]).toEqual([true, 300, ['DOWN']])
})
