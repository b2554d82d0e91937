import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applied, invariants, removed } from '../support/exposure.ts'
import { startTestLab, type TestLab } from '../support/lab.ts'
import { rowsOf } from '../support/lab-store.ts'
import { startVisiting } from '../support/tls-visitor.ts'

/** `npm run campaign -- soak`: ten minutes with certificates of two minutes. Otherwise as little as shows two renewals of each. */
const LIFE_SECONDS = process.env.CAMPAIGN ? 120 : 30
const SOAK_MS = process.env.CAMPAIGN ? 600_000 : 45_000

let lab: TestLab
beforeAll(async () => {
  lab = await startTestLab({
    certificateSeconds: LIFE_SECONDS,
    configure: (config) => ({
      ...config,
      renewal: { checkEverySeconds: 1, retryFirstSeconds: 1, retryCapSeconds: 5 },
    }),
  })
})
afterAll(() => lab?.stop())

test('certificates are renewed before they end, every renewal is served, and nobody notices', {
  timeout: SOAK_MS + 120_000,
}, async () => {
  const names = ['soak1', 'soak2', 'soak3']
  const plans = []
  for (const subdomain of names) plans.push(await applied(lab, { subdomain, tls: true }))
  const hosts = plans.map(({ host }) => host as string)
  const { edges, acme } = lab.description
  const visiting = startVisiting([edges.primary, edges.secondary], hosts, () => readFileSync(acme.ca, 'utf8'))
  await sleep(SOAK_MS)
  const { handshakes, failures } = await visiting.stop()

  expect(failures).toEqual([])
  expect(handshakes).toBeGreaterThan(SOAK_MS / 100)
  const renewals = rowsOf<{ host: string; facts: string }>(
    lab,
    "select host, facts from events where type = 'certificate.renewed' order by seq",
  ).map(({ host, facts }) => ({ host, serial: JSON.parse(facts).serial as string }))
  for (const host of hosts) {
    const shown = visiting.seen.filter((each) => each.host === host)
    expect(shown.every(({ at, notAfter }) => at < notAfter)).toBe(true)
    const served = shown.map(({ serial }) => serial)
    const told = renewals.filter((each) => each.host === host).map(({ serial }) => serial)
    // One may have come between the last handshake and the look at the books.
    expect(served.slice(1)).toEqual(told.slice(0, served.length - 1))
    expect(told.length - served.length).toBeLessThan(1)
    expect(served.length).toBeGreaterThanOrEqual(Math.floor(SOAK_MS / (LIFE_SECONDS * 1000 * 0.7)))
  }
  expect(rowsOf(lab, "select * from events where type = 'certificate.renewal_failed'")).toEqual([])
  await invariants(lab)
  for (const { planId } of plans) await removed(lab, planId)
  await invariants(lab)
})
