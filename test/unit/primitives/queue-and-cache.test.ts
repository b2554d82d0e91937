import { expect, test } from 'vitest'
import { KeyedQueue } from '../../../src/primitives/keyed-queue.ts'
import { LruCache } from '../../../src/primitives/lru-cache.ts'

test('what has the same key runs one after the other, in the order of asking; another key does not wait', async () => {
  const queue = new KeyedQueue()
  const first = Promise.withResolvers<void>()
  const order: string[] = []
  const slow = queue.run('edge', async () => {
    await first.promise
    order.push('slow')
  })
  const next = queue.run('edge', async () => void order.push('next'))
  await queue.run('other', async () => void order.push('other'))
  expect(order).toEqual(['other'])
  first.resolve()
  await Promise.all([slow, next])
  expect(order).toEqual(['other', 'slow', 'next'])
})

test('a failure is told to its own caller and stops nobody behind it', async () => {
  const queue = new KeyedQueue()
  const failed = queue.run('edge', async () => Promise.reject(new Error('no')))
  const next = queue.run('edge', async () => 'done')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
})

test('a full cache forgets what was not used for the longest time, not what is oldest', () => {
  const cache = new LruCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  expect(cache.get('a')).toBe(1)
  cache.set('c', 3)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3])
  cache.delete('a')
  expect(cache.get('a')).toBeUndefined()
})
