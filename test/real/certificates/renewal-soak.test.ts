import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Daemon } from '../../../lab/daemon.ts'
import { losePebble, STEADY_PEBBLE, startPebbleAgain } from '../../support/acme/pebble-again.ts'
import { EAGER, ordersAt } from '../../support/acme/renewal.ts'
import { takes } from '../../support/delay.ts'
import { startVisiting, type Visiting } from '../../support/edge/tls-visitor.ts'
import { applied, invariants, run } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { rowsOf } from '../../support/lab/lab-store.ts'
import { until } from '../../support/until.ts'

/** `npm run campaign -- soak`: ten minutes with certificates of two minutes. */
const LIFE_SECONDS = 120
const SOAK_MS = 600_000

let lab: TestLab
let plans: { planId: string; host: string }[]
let visiting: Visiting | undefined
let pebble: Daemon | undefined
describe.runIf(process.env.CAMPAIGN)('certificates of two minutes', () => {
  beforeAll(async () => {
    Object.assign(process.env, STEADY_PEBBLE)
    lab = await startTestLab({
      certificateSeconds: LIFE_SECONDS,
      configure: (config) => ({
        ...config,
        ...EAGER,
        acme: { ...(config.acme as object), backoff: { firstSeconds: 1, longestSeconds: 2 } },
        monitor: { everySeconds: 1 },
      }),
    })
    plans = []
    for (const subdomain of ['soak1', 'soak2', 'soak3']) plans.push(await applied(lab, { subdomain, tls: true }))
  })
  afterAll(async () => {
    for (const name of Object.keys(STEADY_PEBBLE)) delete process.env[name]
    await visiting?.stop()
    await pebble?.stop()
    await lab?.stop()
  })

  const hosts = () => plans.map(({ host }) => host)
  const told = (type: string, host: string): Record<string, string>[] =>
    rowsOf<{ facts: string }>(
      lab,
      `select facts from events where type = '${type}' and host = '${host}' order by seq`,
    ).map(({ facts }) => JSON.parse(facts))
  const badges = () =>
    Promise.all(
      hosts().map(async (host) => (await lab.call({ path: `/api/health?host=${host}` })).body.badge as string),
    )

  test('certificates are renewed before they end, every renewal is served, and no visitor notices', {
    timeout: SOAK_MS + 120_000,
  }, async () => {
    const { edges, acme } = lab.description
    const visitors = startVisiting([edges.primary, edges.secondary], hosts(), () => readFileSync(acme.ca, 'utf8'))
    visiting = visitors
    await takes(SOAK_MS)
    const least = Math.floor(SOAK_MS / (LIFE_SECONDS * 1000 * 0.7))
    for (const host of hosts()) {
      await until('the renewals are told of', () => told('certificate.renewed', host).length >= least)
      expect(told('certificate.renewal_failed', host)).toEqual([])
    }
    const { handshakes, failures } = await visitors.stop()
    expect(failures).toEqual([])
    expect(handshakes).toBeGreaterThan(SOAK_MS / 1_000)
    for (const host of hosts()) {
      const shown = visitors.seen.filter((each) => each.host === host)
      expect(shown.every(({ at, notAfter }) => at < notAfter)).toBe(true)
      const serials = told('certificate.renewed', host).map(({ serial }) => serial)
      // One may have come after the last handshake.
      expect(serials.slice(0, shown.length - 1)).toEqual(shown.slice(1).map(({ serial }) => serial))
      expect(serials.length).toBeLessThanOrEqual(shown.length)
    }
  })

  test('an authority that is away for longer than a try: the badge says so, and one order mends it when it is back', {
    timeout: LIFE_SECONDS * 1000 + 150_000,
  }, async () => {
    const before = ordersAt(lab)
    await losePebble(lab)
    await until('a badge is CERT', async () => (await badges()).includes('CERT'), 150_000)
    expect(ordersAt(lab)).toBe(before)
    const tried = () =>
      rowsOf<{ reason: string; next_attempt_at: number }>(lab, 'select * from renewals where failures > 0')
    // The certificate may end while the first try still waits for the authority.
    await until('a try has failed', () => tried().length > 0)
    for (const { reason, next_attempt_at } of tried()) {
      expect(reason).toMatch(/certificate authority/)
      expect(next_attempt_at).toBeGreaterThan(0)
    }
    pebble = await startPebbleAgain(lab, LIFE_SECONDS)
    await until('every host was renewed', () => ordersAt(lab) - before >= 3)
    // Counted at once: certificates this short are due again before every badge was looked at on a busy machine.
    expect(ordersAt(lab) - before).toBe(3)
    await until('every badge is RUNNING', async () => (await badges()).every((badge) => badge === 'RUNNING'))
    // A host whose certificate is just being replaced is busy.
    for (const { planId } of plans)
      await until('it is removed', async () => (await run(lab, planId, 'remove')).status === 200)
    await invariants(lab)
  })
})
