import { describe, expect, it } from 'vitest'
import { orderBudget } from '../../../../src/certificates/budget/order-budget.ts'
import type { LedgerLine } from '../../../../src/model/ledger.ts'
import type { Store } from '../../../../src/store/ports/store.ts'
import type { Bench } from '../../engines.ts'
import { NOW } from '../../samples.ts'

const DIRECTORY = 'https://ca.test/dir'

export const ledgerSuite = (on: Bench) =>
  describe('the ledger', () => {
    const line = (more: Partial<LedgerLine> = {}): LedgerLine => ({
      directory: DIRECTORY,
      names: 'shop.lab.test',
      kind: 'ordered',
      at: NOW,
      unproven: [],
      ...more,
    })

    on.it('returns its lines unchanged in the order of writing', async (store) => {
      const lines = [
        line({ at: NOW + 2 }),
        line({ at: NOW, kind: 'failed', unproven: ['shop.lab.test', 'lab.test'] }),
        line({ at: NOW + 1, kind: 'issued', names: '*.lab.test,lab.test' }),
      ]
      for (const each of lines) await store.appendLedger(each)
      expect(await store.readLedger({ directory: DIRECTORY, since: 0 })).toStrictEqual(lines)
      expect(await store.readLedger({ directory: DIRECTORY, since: NOW + 1 })).toStrictEqual([lines[0], lines[2]])
      const ofOne = { directory: DIRECTORY, since: 0, names: 'shop.lab.test' }
      expect(await store.readLedger(ofOne)).toStrictEqual([lines[0], lines[1]])
    })

    on.it('is separate for each directory', async (store) => {
      const elsewhere = { directory: 'https://other.test/dir', since: 0 }
      await store.appendLedger(line())
      await store.pauseAuthority(DIRECTORY, { newOrders: NOW, everything: 0 }, NOW)
      expect(await store.readLedger(elsewhere)).toStrictEqual([])
      expect(await store.authorityPause(elsewhere.directory)).toStrictEqual({ newOrders: 0, everything: 0 })
    })

    on.it('keeps the longest pause of each kind, also for the next instance', async (store) => {
      await store.pauseAuthority(DIRECTORY, { newOrders: NOW + 9, everything: 0 }, NOW + 9)
      await store.pauseAuthority(DIRECTORY, { newOrders: NOW + 5, everything: NOW + 5 }, NOW + 9)
      await store.appendLedger(line())
      await store.close()
      const after = await on.open()
      expect(await after.authorityPause(DIRECTORY)).toStrictEqual({ newOrders: NOW + 9, everything: NOW + 5 })
    })

    on.it('replaces a pause that ends later than any can', async (store) => {
      await store.pauseAuthority(DIRECTORY, { newOrders: NOW + 99, everything: NOW + 99 }, NOW + 99)
      await store.pauseAuthority(DIRECTORY, { newOrders: NOW + 5, everything: 0 }, NOW + 9)
      expect(await store.authorityPause(DIRECTORY)).toStrictEqual({ newOrders: NOW + 5, everything: 0 })
    })

    it('loses no line when two instances append concurrently', async () => {
      const stores = [await on.open(), await on.open()]
      const appending = Array.from({ length: 20 }, (_, i) => stores[i % 2]?.appendLedger(line({ at: NOW + i })))
      await Promise.all(appending)
      expect(await stores[0]?.readLedger({ directory: DIRECTORY, since: 0 })).toHaveLength(20)
    })

    it('does not let two instances together exceed the limit', async () => {
      const stores = [await on.open(), await on.open()]
      const spend = (store: Store, i: number) =>
        orderBudget({
          directory: DIRECTORY,
          ledger: store,
          limits: { certificatesPerDomain: { count: 3, perSeconds: 3_600 }, renewalsExempt: false },
          backoff: { firstSeconds: 1, longestSeconds: 1 },
          domainOf: () => 'lab.test',
          now: () => NOW,
        }).spend({ names: [`host-${i}.lab.test`] })
      const spending = Array.from({ length: 20 }, (_, i) => spend(stores[i % 2] as Store, i))
      const outcomes = await Promise.allSettled(spending)
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(refused).toHaveLength(17)
      for (const reason of refused) expect(reason).toMatchObject({ kind: 'over_budget', retryAfter: 1_200 })
      expect(await stores[0]?.readLedger({ directory: DIRECTORY, since: 0 })).toHaveLength(3)
    })
  })
