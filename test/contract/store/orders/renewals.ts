import { describe, expect } from 'vitest'
import type { Renewal } from '../../../../src/model/ledger.ts'
import type { Bench } from '../../engines.ts'
import { NOW } from '../../samples.ts'

export const renewalSuite = (on: Bench) =>
  describe('renewals', () => {
    const untried: Renewal = { fingerprint: 'AA:BB', names: ['*.lab.test', 'lab.test'], attempts: 0, failures: 0 }
    const failing: Renewal = {
      ...untried,
      attempts: 3,
      failures: 2,
      nextAttemptAt: NOW + 600_000,
      reason: 'The authority is away.',
      advice: { window: { start: NOW, end: NOW + 1 }, askAgainAt: NOW + 21_600_000 },
    }

    on.it('are read as they were written, and later ones replace earlier ones', async (store) => {
      await store.putRenewal(untried)
      expect(await store.findRenewal('AA:BB')).toStrictEqual(untried)
      await store.putRenewal(failing)
      expect(await store.findRenewal('AA:BB')).toStrictEqual(failing)
      await store.putRenewal(untried)
      expect(await store.findRenewal('AA:BB')).toStrictEqual(untried)
      expect(await store.findRenewal('AA:CC')).toBeUndefined()
    })

    on.it('are listed by their names, and can be deleted', async (store) => {
      await store.putRenewal({ ...untried, names: ['shop.lab.test'] })
      await store.putRenewal({ ...untried, fingerprint: 'AA:CC', names: ['app.lab.test'] })
      expect((await store.listRenewals()).map(({ names }) => names.join())).toEqual(['app.lab.test', 'shop.lab.test'])
      for (let i = 0; i < 2; i++) await store.deleteRenewal('AA:BB')
      expect((await store.listRenewals()).map(({ fingerprint }) => fingerprint)).toEqual(['AA:CC'])
    })
  })
