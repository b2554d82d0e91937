import { describe, expect, it } from 'vitest'
import type { Instance } from '../../../src/store/ports/instances.ts'
import type { Bench } from '../engines.ts'
import { NOW } from '../samples.ts'

const TTL_MS = 5_000

const sample = (members: Partial<Instance> = {}): Instance => ({
  name: 'instance-a',
  process: 'p1',
  address: '127.0.45.23:8045',
  version: '0.1.0',
  edges: ['23', '73'],
  keys: ['k1'],
  startedAt: NOW,
  ...members,
})

export const instanceSuite = (on: Bench) =>
  describe('instances', () => {
    on.it('are alive until their time is over, and are told with what they have', async (store) => {
      const other = sample({ name: 'instance-b', edges: [], keys: [] })
      expect(await store.announceInstance(sample(), NOW, TTL_MS)).toBe(true)
      expect(await store.announceInstance(other, NOW, 2 * TTL_MS)).toBe(true)
      expect(await store.liveInstances(NOW)).toStrictEqual([sample(), other])
      expect(await store.liveInstances(NOW + TTL_MS)).toStrictEqual([other])
    })

    on.it('announce themselves again, and change what they tell', async (store) => {
      await store.announceInstance(sample(), NOW, TTL_MS)
      expect(await store.announceInstance(sample({ keys: ['k1', 'k2'] }), NOW + 1, TTL_MS)).toBe(true)
      expect(await store.liveInstances(NOW + TTL_MS)).toStrictEqual([sample({ keys: ['k1', 'k2'] })])
    })

    on.it('share no name while both live', async (store) => {
      await store.announceInstance(sample(), NOW, TTL_MS)
      expect(await store.announceInstance(sample({ process: 'p2' }), NOW + TTL_MS - 1, TTL_MS)).toBe(false)
      expect(await store.liveInstances(NOW)).toStrictEqual([sample()])
      expect(await store.announceInstance(sample({ process: 'p2' }), NOW + TTL_MS, TTL_MS)).toBe(true)
      expect(await store.announceInstance(sample(), NOW + TTL_MS + 1, TTL_MS)).toBe(false)
    })

    on.it('follow at once on a process that is known to be dead, and on no other', async (store) => {
      await store.announceInstance(sample(), NOW, TTL_MS)
      expect(await store.announceInstance(sample({ process: 'p2' }), NOW, TTL_MS, 'p0')).toBe(false)
      expect(await store.announceInstance(sample({ process: 'p2' }), NOW, TTL_MS, 'p1')).toBe(true)
    })

    it('give a free name to one of many processes', async () => {
      const stores = await Promise.all([on.open(), on.open()])
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (stores[i % 2] ?? stores[0]).announceInstance(sample({ process: `p${i}` }), NOW, TTL_MS),
        ),
      )
      expect(claims.filter(Boolean)).toHaveLength(1)
    })

    on.it('are gone when they withdraw, but only their own process', async (store) => {
      await store.announceInstance(sample(), NOW, TTL_MS)
      await store.withdrawInstance('instance-a', 'p2')
      expect(await store.liveInstances(NOW)).toHaveLength(1)
      await store.withdrawInstance('instance-a', 'p1')
      await store.withdrawInstance('instance-a', 'p1')
      expect(await store.liveInstances(NOW)).toStrictEqual([])
    })
  })
