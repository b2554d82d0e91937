import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../../src/store/ports/leases.ts'
import type { Store } from '../../../../src/store/ports/store.ts'
import type { Bench } from '../../engines.ts'
import { DAY, NOW, samplePlan } from '../../samples.ts'

const NAME = 'host/shop.lab.test'

export const leaseSuite = (on: Bench) =>
  describe('leases', () => {
    const taken = async (store: Store, holder: string, now = NOW): Promise<Lease> => {
      const lease = await store.takeLease(NAME, holder, now, 1_000)
      if (!lease) throw new Error(`${holder} did not get the lease`)
      return lease
    }

    const renewed = async (store: Store, lease: Lease, now: number, lifeMs: number): Promise<boolean> =>
      (await store.renewLeases([lease], now, lifeMs)).has(lease.name)

    on.it('belong to one holder until they expire', async (store) => {
      const lease = await taken(store, 'one')
      expect(lease).toStrictEqual({ name: NAME, holder: 'one', fence: 1, expiresAt: NOW + 1_000 })
      expect(await store.takeLease(NAME, 'two', NOW + 999, 1_000)).toBeUndefined()
      expect(await store.findLease(NAME, NOW + 999)).toStrictEqual(lease)
      expect(await store.findLease(NAME, NOW + 1_000)).toBeUndefined()
      expect((await taken(store, 'two', NOW + 1_000)).fence).toBe(2)
    })

    on.it('may be taken again by the same holder, under a new fence that ends the old lease', async (store) => {
      const earlier = await taken(store, 'one')
      const later = await taken(store, 'one', NOW + 1)
      expect(later.fence).toBe(2)
      expect(await renewed(store, earlier, NOW + 2, 1_000)).toBe(false)
      await store.releaseLease(earlier)
      expect(await store.findLease(NAME, NOW + 2)).toStrictEqual(later)
    })

    on.it('can be renewed while no one else holds them', async (store) => {
      const lease = await taken(store, 'one')
      expect(await renewed(store, lease, NOW + 900, 1_000)).toBe(true)
      expect((await store.findLease(NAME, NOW + 1_899))?.fence).toBe(1)
      expect(await renewed(store, lease, NOW + 5_000, 1_000)).toBe(true)
      await taken(store, 'two', NOW + 6_000)
      expect(await renewed(store, lease, NOW + 6_001, 1_000)).toBe(false)
    })

    on.it('are renewed a thousand at a time, and lost ones are reported', async (store) => {
      const take = async (name: string, holder: string, now = NOW) => {
        const lease = await store.takeLease(name, holder, now, 1_000)
        if (!lease) throw new Error(`${holder} did not get ${name}`)
        return lease
      }
      const names = Array.from({ length: 1_200 }, (_, i) => `host/h${i}`)
      const leases = await store.takeLeases(names, 'one', NOW, 1_000)
      const [lost, taken, again, ...kept] = leases
      if (!lost || !taken || !again) throw new Error('no leases')
      await store.releaseLease(lost)
      await take(taken.name, 'two', NOW + 1_000)
      const newer = await take(again.name, 'one')
      const present = [lost, taken, again, ...kept.slice(1)]
      expect([...(await store.renewLeases(present, NOW + 2_000, 1_000))].toSorted()).toStrictEqual(
        kept
          .slice(1)
          .map(({ name }) => name)
          .toSorted(),
      )
      expect(await store.findLease(newer.name, NOW + 1_500)).toBeUndefined()
      expect((await store.findLease(kept[1]?.name ?? '', NOW + 2_999))?.fence).toBe(1)
      expect(await store.findLease(kept[0]?.name ?? '', NOW + 1_500)).toBeUndefined()
      expect((await store.renewLeases([newer, ...kept.slice(0, 2)], NOW + 2_500, 1_000)).size).toBe(3)
      expect((await store.renewLeases([], NOW, 1_000)).size).toBe(0)
    })

    on.it('are free after a release, and cannot be renewed then', async (store) => {
      const lease = await taken(store, 'one')
      await store.releaseLease(lease)
      expect(await store.findLease(NAME, NOW)).toBeUndefined()
      expect(await renewed(store, lease, NOW, 1_000)).toBe(false)
      expect((await taken(store, 'two')).holder).toBe('two')
    })

    on.it('are not released by a holder that lost them', async (store) => {
      const lost = await taken(store, 'one')
      const present = await taken(store, 'two', NOW + 1_000)
      await store.releaseLease(lost)
      expect(await store.findLease(NAME, NOW + 1_001)).toStrictEqual(present)
    })

    it('never repeat a fence, also after a release and a restart', async () => {
      const fences: number[] = []
      for (let round = 0; round < 3; round++) {
        const store = await on.open()
        const lease = await taken(store, `holder ${round}`)
        fences.push(lease.fence)
        await store.releaseLease(lease)
        await store.close()
      }
      expect(fences).toStrictEqual([1, 2, 3])
    })

    on.it('of a host whose plans are gone keep their fence when everything old is pruned', async (store) => {
      await store.insertPlan(samplePlan({ state: 'rolled_back' }))
      const lease = await taken(store, 'one')
      await store.releaseLease(lease)
      const later = NOW + 1_000 * DAY
      await store.prune({ plansBefore: later, auditBefore: later, eventsBefore: later, now: later })
      expect(await store.findPlan(samplePlan().planId)).toBeUndefined()
      expect((await taken(store, 'two', later)).fence).toBe(lease.fence + 1)
    })

    on.it('go on from the fence of a former store, and never from a lower one', async (store) => {
      const other = await store.takeLease('lease 1', 'one', NOW, 1_000)
      await store.raiseLastFences([NAME, 'lease 1'], 7)
      await store.raiseLastFences([NAME], 3)
      expect(await store.lastFences([NAME, 'lease 1'])).toStrictEqual(
        new Map([NAME, 'lease 1'].map((name) => [name, 7])),
      )
      expect(await store.findLease('lease 1', NOW)).toMatchObject({ holder: other?.holder })
      expect((await taken(store, 'one')).fence).toBe(8)
    })

    on.it('are taken together, except those that another holder has', async (store) => {
      const names = Array.from({ length: 1_100 }, (_, i) => `lease ${i}`)
      await store.takeLease('lease 7', 'other', NOW, 1_000)
      await store.takeLease('lease 8', 'former', NOW - 1_000, 1_000)
      const taken = await store.takeLeases([...names, 'lease 9'], 'one', NOW, 1_000)
      expect(taken.map(({ name }) => name).toSorted()).toStrictEqual(
        names.filter((name) => name !== 'lease 7').toSorted(),
      )
      expect(taken.find(({ name }) => name === 'lease 8')).toMatchObject({ holder: 'one', fence: 2 })
      expect(await store.takeLeases([], 'one', NOW, 1_000)).toStrictEqual([])
    })

    on.it('go to one of 50 concurrent holders, on two instances', async (one, two) => {
      const race = (now: number) =>
        Promise.all(
          Array.from({ length: 50 }, (_, i) => (i % 2 ? one : two).takeLease(NAME, `holder ${i}`, now, 1_000)),
        )
      const winners = (await race(NOW)).filter((lease) => lease !== undefined)
      expect(winners.map((lease) => lease.fence)).toStrictEqual([1])
      const next = (await race(NOW + 1_000)).filter((lease) => lease !== undefined)
      expect(next.map((lease) => lease.fence)).toStrictEqual([2])
    })

    on.it('get a new fence each time when one holder takes one 50 times at once', async (one, two) => {
      const leases = await Promise.all(Array.from({ length: 50 }, (_, i) => taken(i % 2 ? one : two, 'the same')))
      const fences = leases.map((lease) => lease.fence).sort((a, b) => a - b)
      expect(fences).toStrictEqual(Array.from({ length: 50 }, (_, i) => i + 1))
    })
  })
