import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { statePaths } from '../../../lab/state.ts'
import { secondaryCertificate } from '../../../src/model/receipt.ts'
import { eachExposure } from '../../../src/store/ports/exposures.ts'
import { handshake } from '../edge/tls-visitor.ts'
import { housekeeping } from '../lab/housekeeping.ts'
import type { TestLab } from '../lab/lab.ts'
import { change, withStore } from '../lab/lab-store.ts'
import { until } from '../until.ts'

/** Checks certificates every second. */
export const EAGER = { renewal: { checkEverySeconds: 1, retryFirstSeconds: 1, retryCapSeconds: 4 } }

/** Renewal information that says that a certificate must be replaced now, and is believed for longer than any test takes. */
export const RENEW_NOW = JSON.stringify({ window: { start: 1, end: 2 }, askAgainAt: Date.now() + 12 * 3_600_000 })

/** Stores renewal information that says that every certificate must be replaced now. */
export async function callForRenewal(lab: TestLab): Promise<void> {
  await housekeeping(lab, 'renew')
  await until('every certificate in use is looked after, and no other one', () => isLookedAfter(lab))
  change(lab, 'update renewals set advice = ?', RENEW_NOW)
}

const isLookedAfter = (lab: TestLab): Promise<boolean> =>
  withStore(lab, async (store) => {
    const used = (await Array.fromAsync(eachExposure(store))).flatMap(
      ({ receipt }) => receipt?.certificate?.fingerprint ?? [],
    )
    const known = (await store.listRenewals()).map(({ fingerprint }) => fingerprint)
    return used.length > 0 && new Set(used).symmetricDifference(new Set(known)).size === 0
  })

/** The serial numbers that both edges show for the host. */
export async function serials(lab: TestLab, host: string): Promise<string[]> {
  const { edges, acme } = lab.description
  const ca = readFileSync(acme.ca, 'utf8')
  const shown = await Promise.all([edges.primary, edges.secondary].map((edge) => handshake(edge, host, ca)))
  return shown.map(({ serial }) => serial)
}

/** Waits until both edges serve another certificate for every host and the store agrees. */
export function untilReplaced(lab: TestLab, hosts: readonly string[], former: string, limitMs = 60_000): Promise<void> {
  return until(
    'the certificate is replaced on both edges',
    async () => {
      const shown = (await Promise.all(hosts.map((host) => serials(lab, host)))).flat()
      return new Set(shown).size === 1 && shown[0] !== former && (await isSettled(lab))
    },
    limitMs,
  )
}

/** Waits until no replacement is in progress and both edges have the same certificates. */
export const isSettled = (lab: TestLab): Promise<boolean> =>
  withStore(lab, async (store) => {
    const exposures = await Array.fromAsync(eachExposure(store))
    return exposures.every(
      ({ runId, receipt }) =>
        runId === undefined && receipt && secondaryCertificate(receipt) === receipt.certificate?.fingerprint,
    )
  })

/** The number of orders that Pebble has accepted. */
export const ordersAt = (lab: TestLab): number =>
  readFileSync(join(statePaths(lab.state).pebble, 'pebble.log'), 'utf8').split('Added order ').length - 1
