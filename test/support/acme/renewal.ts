import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { statePaths } from '../../../lab/state.ts'
import { inUse } from '../../../src/runs/renewal/in-use.ts'
import { eachExposure } from '../../../src/store/ports/exposures.ts'
import { handshake } from '../edge/tls-visitor.ts'
import type { TestLab } from '../lab/lab.ts'
import { change, withStore } from '../lab/lab-store.ts'
import { until } from '../until.ts'

/** Looks at certificates all the time. */
export const EAGER = { renewal: { checkEverySeconds: 1, retryFirstSeconds: 1, retryCapSeconds: 4 } }

/** Lets the authority seem to have said that every certificate is to be replaced at once. */
export async function callForRenewal(lab: TestLab): Promise<void> {
  const advice = JSON.stringify({ window: { start: 1, end: 2 }, askAgainAt: Number.MAX_SAFE_INTEGER })
  await until('every certificate in use is looked after, and no other one', () => isLookedAfter(lab), 30_000)
  change(lab, 'update renewals set advice = ?', advice)
}

const isLookedAfter = (lab: TestLab): Promise<boolean> =>
  withStore(lab, async (store) => {
    const used = (await Array.fromAsync(eachExposure(store))).flatMap(
      (exposure) => inUse(exposure)?.certificate.fingerprint ?? [],
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

/** Both edges show another certificate than this for every host, and the books say the same of all of them. */
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

/** No replacement is under way, and the Secondary has what the Primary has. */
export const isSettled = (lab: TestLab): Promise<boolean> =>
  withStore(lab, async (store) => {
    const hosts = (await Array.fromAsync(eachExposure(store))).flatMap((exposure) => inUse(exposure) ?? [])
    return hosts.every(({ intent, onSecondary, certificate }) => !intent && onSecondary === certificate.fingerprint)
  })

/** How many orders Pebble has taken. */
export const ordersAt = (lab: TestLab): number =>
  readFileSync(join(statePaths(lab.state).pebble, 'pebble.log'), 'utf8').split('Added order ').length - 1
