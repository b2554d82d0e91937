import { expect, test } from 'vitest'
import { IssueFault } from '../../../src/certificates/contract.ts'
import type { Renewal } from '../../../src/model/ledger.ts'
import type { ChosenCertificate } from '../../../src/model/receipt.ts'
import type { Runs } from '../../../src/runs/engine/runs.ts'
import { RenewalStates } from '../../../src/runs/renewal/renewal-states.ts'
import { Renewals } from '../../../src/runs/renewal/renewals.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { storeOfTest } from '../../support/fresh.ts'
import { appliedPlan } from '../../support/saga.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const DAY = 86_400_000
const SETTLED: Renewal = { fingerprint: 'AA', names: ['*.lab.test'], attempts: 0, failures: 0 }

const INVENTORY = {
  covering: async () => undefined,
  coveringEach: async () => new Map(),
  withFingerprint: async () => undefined,
  findings: async () => [],
}
const LOG = createLog('silent', [])
const RETRY = { firstMs: 1_000 }

/** Looks after a certificate that is not due. Resolves with how often its authority was asked for advice. */
async function timesAsked(known: (now: number) => Partial<Renewal>): Promise<number> {
  const clock = new VirtualClock()
  const { store } = await storeOfTest()
  const { host, planId } = await appliedPlan(store, clock.now())
  const certificate: ChosenCertificate = {
    ...{ fingerprint: 'AA', certificateFile: '', keyFile: '', names: ['*.lab.test'], source: 'issued', ours: true },
    ...{ notBefore: clock.now(), notAfter: clock.now() + 90 * DAY },
  }
  await store.setExposureReceipt(host, planId, { version: 2, records: [], certificate }, 1)
  await store.putRenewal({ ...SETTLED, ...known(clock.now()) })
  let asked = 0
  const renewals = new Renewals({
    ...{ store, clock, log: LOG, retry: RETRY, inventory: INVENTORY, primary: undefined },
    runs: {} as Runs,
    advisor: {
      advise: async () => {
        asked += 1
        return { askAgainAt: clock.now() + 1 }
      },
    },
  })
  expect(await renewals.reconcile()).toEqual({ hosts: [], failed: [] })
  return asked
}

test.each<[string, (now: number) => Partial<Renewal>, number]>([
  ['in the pause after a failure', (now) => ({ failures: 1, nextAttemptAt: now + 7 * DAY }), 0],
  ['in a pause from a clock that was ahead', (now) => ({ failures: 1, nextAttemptAt: now + 7 * DAY + 1 }), 1],
  ['with advice that still holds', (now) => ({ advice: { askAgainAt: now + DAY } }), 0],
  ['with advice from a clock that was ahead', (now) => ({ advice: { askAgainAt: now + DAY + 1 } }), 1],
])('a certificate %s: its authority is asked or not', async (_, known, times) =>
  expect(await timesAsked(known)).toBe(times),
)

test('a wait of more than a week that is told to a renewal is noted as one that is believed', async () => {
  const clock = new VirtualClock()
  const { store } = await storeOfTest()
  const advisor = { advise: async () => ({ askAgainAt: 0 }) }
  const states = new RenewalStates({ store, clock, log: LOG, retry: RETRY, inventory: INVENTORY, advisor })
  await states.failed(SETTLED, new IssueFault('over_budget', 'A limit.', 30 * 86_400))
  expect(await store.findRenewal('AA')).toMatchObject({ nextAttemptAt: clock.now() + 7 * DAY })
})
