import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceConfig } from '../../../lab/service-config.ts'
import { statePaths } from '../../../lab/state.ts'
import { entryProof } from '../../../src/edge/record/proof.ts'
import type { Plan } from '../../../src/model/exposure.ts'
import { hostLease } from '../../../src/model/run.ts'
import { type Exposure, eachExposure } from '../../../src/store/ports/exposures.ts'
import { EAGER, isSettled, RENEW_NOW, serials } from '../../support/acme/renewal.ts'
import { updateZone } from '../../support/dns/lab-dns.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { visit } from '../../support/edge/visitor.ts'
import { applied, expected, invariants, planned, removed, run, world } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { change, withStore } from '../../support/lab/lab-store.ts'
import { whileStopped } from '../../support/lab/while-stopped.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 180_000 })

/**
 * The store is lost under exposures of every kind: 50 in `npm run campaign -- rebuild`, 8 in `npm test`. What edges, zone and
 * certificates tell is enough to manage, renew and remove all of them. The test lists what is the same as before and what cannot be
 * known.
 */
const KINDS = process.env.CAMPAIGN
  ? { http: 25, wildcard: 10, own: 4, placed: 1, ending: 5, updated: 5 }
  : { http: 2, wildcard: 2, own: 1, placed: 1, ending: 1, updated: 1 }
const TOTAL = Object.values(KINDS).reduce((sum, count) => sum + count)
let lab: TestLab
let before: Map<string, Managed>
const config = () => statePaths(lab.state).config
const service = () => statePaths(lab.state).service

interface Managed {
  readonly exposure: Exposure
  readonly plan: Plan
}

const managed = (): Promise<Map<string, Managed>> =>
  withStore(lab, async (store) => {
    const found = new Map<string, Managed>()
    for await (const exposure of eachExposure(store)) {
      const plan = await store.findPlan(exposure.planId)
      if (plan) found.set(exposure.host, { exposure, plan })
    }
    return found
  })

/** How the service orders certificates for the zone. */
const ordering = (certificate: 'host' | 'wildcard') => (given: ServiceConfig) => {
  const zones = given.zones as Record<string, ServiceConfig>
  return {
    ...given,
    zones: Object.fromEntries(Object.entries(zones).map(([name, zone]) => [name, { ...zone, certificate }])),
  }
}

/** At most five at once. */
async function expose(kind: keyof typeof KINDS, overrides: Record<string, unknown>): Promise<{ planId: string }[]> {
  const all: { planId: string }[] = []
  for (let at = 0; at < KINDS[kind]; at += 5) {
    const some = Array.from({ length: Math.min(5, KINDS[kind] - at) }, (_, i) =>
      applied(lab, { subdomain: `${kind}-${at + i}`, ...overrides }),
    )
    all.push(...(await Promise.all(some)))
  }
  return all
}

beforeAll(async () => {
  lab = await startTestLab({ configure: ordering('host') })
  const folder = statePaths(lab.state).certificates
  mkdirSync(join(folder, 'placed'))
  const [certificate, key] = [join(folder, 'placed', 'cert.pem'), join(folder, 'placed', 'key.pem')]
  await makeCertificate({ certificate, key, names: ['DNS:placed-0.lab.test'] })
  await expose('own', { tls: true })
  await expose('placed', { tls: true })
  await expose('http', {})
  await expose('ending', { expiresIn: 7_200 })
  for (const [i, { planId }] of (await expose('updated', {})).entries()) {
    const next = await planned(lab, { subdomain: `updated-${i}`, tls: true, health: '/?updated', replaces: planId })
    expected(await run(lab, next.planId), 200)
  }
  // Without a look at certificates: hosts with one of their own would get the wildcard.
  const unhurried = { renewal: { checkEverySeconds: 86_400 } }
  await lab.restartService((given) => ({ ...ordering('wildcard')(given), ...unhurried }))
  await expose('wildcard', { tls: true })
  before = await managed()
}, 180_000)
afterAll(() => lab?.stop())

const url = () => ['--url', lab.description.inside]

const rebuild = (...options: string[]) => command(['rebuild', '--from-world', '--config', config(), ...options])

const whileLost = (work: () => Promise<void>): Promise<void> =>
  whileStopped(lab, work, (given) => ({ ...ordering('host')(given), ...EAGER }))

const inStep = () =>
  until(
    'store, zone and edges agree',
    () =>
      invariants(lab).then(
        () => true,
        () => false,
      ),
    60_000,
  )

/** What a rebuild finds in the world. */
const KNOWN = ({ plan, exposure: { host, planId, state, receipt } }: Managed) => ({
  ...{ host, planId, state, planState: plan.state, url: plan.url },
  exposureId: plan.exposureId ?? planId,
  request: { ...plan.request, expiresIn: undefined, replaces: undefined },
  records: receipt?.records.toSorted((a, b) => (`${a.name}${a.type}` < `${b.name}${b.type}` ? -1 : 1)),
  certificate: receipt?.certificate && {
    ...receipt.certificate,
    // How it was chosen at the apply: a host that reuses an issued pair has "installed" there.
    source: undefined,
  },
})

describe('a store that was deleted under its exposures', () => {
  test('the dry run finds all but the one without its mark, and changes nothing', async () => {
    expect(before.size).toBe(TOTAL)
    updateZone(lab, 'update delete _drawbridge.http-0.lab.test. TXT')
    await whileLost(async () => {
      for (const name of readdirSync(service())) if (name.startsWith('drawbridge.db')) rmSync(join(service(), name))
      const body = JSON.parse((await rebuild('--dry-run', '--json')).stdout)
      expect(body).toMatchObject({ adopted: false, epoch: null, known: 0 })
      expect(body.found).toHaveLength(TOTAL - 1)
      expect(body.left).toMatchObject([{ host: 'http-0.lab.test', reason: expect.stringContaining('owner mark') }])
      expect(existsSync(join(service(), 'drawbridge.db'))).toBe(false)

      const { exposure, plan } = before.get('http-0.lab.test') ?? expect.fail()
      const mark = plan.exposureId ?? exposure.planId
      updateZone(lab, `update add _drawbridge.http-0.lab.test. 60 TXT "drawbridge ${mark}"`)
      expect((await rebuild()).stderr).toContain('pass --yes')
      expect(existsSync(join(service(), 'drawbridge.db'))).toBe(false)
      expect((await rebuild('--yes')).stdout).toContain(`${TOTAL} hosts are in the store`)
      const waiting = [...(await managed()).values()].map(({ exposure }) => exposure.unconfirmed)
      expect(waiting).toEqual(Array(TOTAL).fill('edges'))
      const numbers = await withStore(lab, (store) => store.lastFences([...before.keys()].map(hostLease)))
      expect([...numbers.values()].filter((number) => number > 0)).toHaveLength(TOTAL)
    })
  })

  test('has everything that the world tells, and new values for what it does not', async () => {
    await inStep()
    const areConfirmed = async () =>
      [...(await managed()).values()].every(({ exposure }) => exposure.unconfirmed === undefined)
    await until('what is equal everywhere is confirmed without a question', areConfirmed, 60_000)
    expect((await command(['reconcile', '--config', config()])).stdout).toContain('No host waits')
    const after = await managed()
    expect([...after.keys()]).toStrictEqual([...before.keys()])
    for (const [host, was] of before) {
      const is = after.get(host) ?? expect.fail(host)
      expect(KNOWN(is)).toStrictEqual(KNOWN(was))
      expect(is.plan).toMatchObject({ createdBy: 'console', checks: [] })
      expect(entryProof(is.plan.proof, host)).toEqual(entryProof(was.plan.proof, host))
      expect(is.exposure.expiresAt).toBeUndefined()
    }
    await until('nothing differs', async () => (await command(['diff', '--all', ...url()])).code === 0)
    const told = await withStore(lab, async (store) => (await store.readAudit(0, 1_000)).map(({ action }) => action))
    expect(told.filter((action) => action === 'rebuild')).toHaveLength(TOTAL + 1)
  })

  test.runIf(process.env.CAMPAIGN)(
    'is rebuilt once more when the certificates of the state folder are lost too',
    async () => {
      const shown = await world(lab)
      const exposures = join(lab.state, 'exposures.yaml')
      const listed = { ...{ server: '25', port: 3000, health: '/?updated' }, expiresAt: '2099-01-01T00:00:00Z' }
      writeFileSync(exposures, JSON.stringify({ exposures: [{ host: 'updated-0.lab.test', ...listed }] }))
      await whileLost(async () => {
        rmSync(service(), { recursive: true })
        expect((await rebuild('--yes', '--exposures', exposures)).stdout).toContain(`${TOTAL} hosts are in the store`)
      })
      await inStep()
      expect((await world(lab)).length).toBe(shown.length)
      const after = await managed()
      for (const [host, was] of before)
        expect(after.get(host)?.exposure.receipt?.certificate?.fingerprint, host).toBe(
          was.exposure.receipt?.certificate?.fingerprint,
        )
      expect(after.get('placed-0.lab.test')?.exposure.receipt?.certificate).toMatchObject({ ours: false })
      expect(after.get('updated-0.lab.test')).toMatchObject({
        plan: { request: { health: '/?updated' } },
        exposure: { expiresAt: Date.parse(listed.expiresAt) },
      })
      // Nothing is left to adopt, and a second rebuild changes nothing.
      await whileLost(async () =>
        expect(JSON.parse((await rebuild('--yes', '--json')).stdout)).toMatchObject({ found: [], known: TOTAL }),
      )
    },
  )

  test('renews the certificates that it ordered', async () => {
    const hosts = [...before].filter(([, { exposure }]) => exposure.receipt?.certificate?.ours).map(([host]) => host)
    expect(hosts.length).toBe(KINDS.wildcard + KINDS.own + KINDS.updated)
    const former = new Map(await Promise.all(hosts.map(async (host) => [host, await serials(lab, host)] as const)))
    const ours = new Set(hosts.map((host) => before.get(host)?.exposure.receipt?.certificate?.fingerprint))
    const areLookedAfter = () =>
      withStore(lab, (store) => store.listRenewals()).then((known) => known.length === ours.size)
    await until('every certificate that was ordered is looked after', areLookedAfter)
    change(lab, 'update renewals set advice = ?', RENEW_NOW)
    for (const host of hosts)
      await until(
        `both edges serve a new certificate for ${host}`,
        async () => {
          const [primary, secondary] = await serials(lab, host)
          return primary === secondary && !former.get(host)?.includes(primary ?? '')
        },
        90_000,
      )
    await until('no renewal is under way', () => isSettled(lab))
  })

  test('removes all of them', async () => {
    const ca = readFileSync(lab.description.acme.ca)
    expect((await visit(lab.description.edges.primary, { host: 'wildcard-0.lab.test', ca })).status).toBe(200)
    const plans = [...(await managed()).values()].map(({ exposure }) => exposure.planId)
    expect(plans).toHaveLength(TOTAL)
    for (let at = 0; at < plans.length; at += 5)
      await Promise.all(plans.slice(at, at + 5).map((planId) => removed(lab, planId)))
    expect((await managed()).size).toBe(0)
    await inStep()
  })
})
