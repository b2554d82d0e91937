import { expect, test } from 'vitest'
import { SharedCounts } from '../../../../src/http/guard/shared-counts.ts'
import { VirtualClock } from '../../../support/virtual-clock.ts'

const MINUTE = 60_000

test('a window that was begun by a clock that was ahead is over', async () => {
  const clock = new VirtualClock()
  let windowEnd = clock.now() + MINUTE
  const counts = new SharedCounts(
    { countRequests: async () => new Map([['a', { requests: 9, windowEnd }]]) },
    MINUTE,
    clock,
  )
  await counts.add('a')
  expect(counts.find('a')).toEqual({ requests: 9, windowEnd })
  windowEnd += 1
  await counts.add('a')
  expect(counts.find('a')).toBeUndefined()
})
