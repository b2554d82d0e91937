import { describe, expect, it } from 'vitest'
import type { SpendOutcome } from '../../../src/store/ports/capabilities.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import type { Bench } from '../engines.ts'
import { NOW, presented, sampleCapability, samplePlan } from '../samples.ts'

export const capabilitySuite = (on: Bench) =>
  describe('capabilities', () => {
    const issue = async (store: Store, change = {}) => {
      await store.insertPlan(samplePlan())
      await store.insertCapability(sampleCapability(change))
    }

    on.it('are spent once', async (store) => {
      await issue(store)
      expect(await store.spentCapabilities()).toEqual([])
      expect(await store.spendCapability(presented(), NOW + 1)).toBe('spent')
      expect(await store.spendCapability(presented(), NOW + 2)).toBe('used')
      const { planId, action } = sampleCapability()
      expect(await store.spentCapabilities()).toEqual([{ planId, action, count: 1 }])
    })

    on.it('are valid until their expiry, and not a millisecond longer', async (store) => {
      await issue(store)
      await store.insertCapability(sampleCapability({ hash: 'e'.repeat(64) }))
      expect(await store.spendCapability(presented(), NOW + 300_000)).toBe('expired')
      expect(await store.spendCapability(presented({ hash: 'e'.repeat(64) }), NOW + 299_999)).toBe('spent')
    })

    it.each([
      ['plan', { planId: 'plan_another' }],
      ['digest', { digest: 'f'.repeat(64) }],
      ['action', { action: 'remove' as const }],
      ['address', { ip: '127.0.45.11' }],
    ])('for another %s are refused and not spent', async (_, change) => {
      const store = await on.open()
      await issue(store)
      expect(await store.spendCapability(presented(change), NOW)).toBe('mismatched')
      expect(await store.spendCapability(presented(), NOW)).toBe('spent')
      expect(await store.spendCapability(presented(change), NOW)).toBe('mismatched')
    })

    on.it('that were never issued are unknown', async (store) => {
      await issue(store)
      expect(await store.spendCapability(presented({ hash: 'a'.repeat(64) }), NOW)).toBe('unknown')
    })

    on.it('are refused for a plan that does not exist', async (store) => {
      await expect(store.insertCapability(sampleCapability())).rejects.toThrow()
    })

    on.it('allow exactly one of 200 concurrent uses, on two instances', async (one, two) => {
      await issue(one)
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, i) => (i % 2 ? one : two).spendCapability(presented(), NOW)),
      )
      expectOneSpent(outcomes, 200)
    })

    on.it('allow exactly one of 200 concurrent uses inside transactions, on two instances', async (one, two) => {
      await issue(one)
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          (i % 2 ? one : two).transaction(async (session) => {
            const outcome = await session.spendCapability(presented(), NOW)
            if (outcome === 'spent') await session.movePlan(samplePlan().planId, ['planned'], 'applying')
            return outcome
          }),
        ),
      )
      expectOneSpent(outcomes, 200)
    })

    on.it('stay unspent when the transaction that spent them is rolled back', async (store) => {
      await issue(store)
      const failing = store.transaction(async (session) => {
        expect(await session.spendCapability(presented(), NOW)).toBe('spent')
        expect(await session.spendCapability(presented(), NOW)).toBe('used')
        throw new Error('the lease was busy')
      })
      await expect(failing).rejects.toThrow('the lease was busy')
      expect(await store.spendCapability(presented(), NOW)).toBe('spent')
    })
  })

function expectOneSpent(outcomes: readonly SpendOutcome[], of: number): void {
  expect(outcomes.filter((outcome) => outcome === 'spent')).toHaveLength(1)
  expect(outcomes.filter((outcome) => outcome === 'used')).toHaveLength(of - 1)
}
