import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { EdgeDescription } from '../../../lab/description.ts'
import { statePaths } from '../../../lab/state.ts'
import { tlsHandshake } from '../../../src/edge/visit/handshake.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { losePebble, STEADY_PEBBLE, startPebbleAgain } from '../../support/acme/pebble-again.ts'
import { callForRenewal, EAGER, ordersAt, serials, untilReplaced } from '../../support/acme/renewal.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { startVisiting } from '../../support/edge/tls-visitor.ts'
import { serviceHere } from '../../support/instances/service-here.ts'
import { entryFile } from '../../support/lab/entry-file.ts'
import { applied, granted, invariants, planned, removed, run } from '../../support/lab/exposure.ts'
import { housekeeping } from '../../support/lab/housekeeping.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { change, rowsOf } from '../../support/lab/lab-store.ts'
import { command } from '../../support/programs/command.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 90_000 })

let lab: TestLab
beforeAll(async () => {
  Object.assign(process.env, STEADY_PEBBLE)
  lab = await startTestLab({ configure: eager }).finally(() => {
    for (const name of Object.keys(STEADY_PEBBLE)) delete process.env[name]
  })
})
afterAll(() => lab?.stop())

const eager = (config: Readonly<Record<string, unknown>>) => ({
  ...config,
  ...EAGER,
  acme: { ...(config.acme as object), backoff: { firstSeconds: 1, longestSeconds: 2 } },
})
const serviceLog = () => readFileSync(lab.description.log, 'utf8')

/** Which certificate an edge shows, whoever it is from. */
async function shownBy({ address, https }: EdgeDescription, host: string): Promise<string | undefined> {
  const shown = await tlsHandshake({ address, port: https }, host, 5_000, systemClock)
  return shown.kind === 'certificate' ? shown.serial : undefined
}

describe('a certificate that an administrator places', () => {
  const file = (name: string) => join(statePaths(lab.state).certificates, name)
  const place = (host: string, days: number) =>
    makeCertificate({ certificate: file('hand.pem'), key: file('hand.key'), names: [`DNS:${host}`], days })

  test.runIf(process.env.CAMPAIGN)('is used by the next plan, and when it is taken away the plan says so', async () => {
    const subdomain = 'placed'
    expect((await planned(lab, { subdomain, tls: true })).changes[0]).toMatchObject({ action: 'issue' })
    await place('placed.lab.test', 30)
    const reusing = await planned(lab, { subdomain, tls: true })
    expect(reusing.changes[0]).toMatchObject({ action: 'reuse', names: ['placed.lab.test'] })
    rmSync(file('hand.key'))
    const without = await planned(lab, { subdomain, tls: true })
    expect(without.changes[0]).toMatchObject({ action: 'issue', names: ['placed.lab.test'] })
    expect(without.checks.at(2).detail).toMatch(/^No installed certificate covers the name/)
    expect((await run(lab, reusing.planId)).body).toMatchObject({ code: 'plan_stale' })
    await until('the finding is logged', () => serviceLog().includes('"finding":"no_key"'))
    expect(serviceLog().split('"finding":"no_key"')).toHaveLength(2)
  })

  test.runIf(process.env.CAMPAIGN)(
    'takes the place of an earlier one for the same name on both edges, and of none that is better',
    async () => {
      await place('follow.lab.test', 30)
      const before = ordersAt(lab)
      const { planId, host } = await applied(lab, { subdomain: 'follow', tls: true })
      const edges = Object.values(lab.description.edges)
      const former = await shownBy(lab.description.edges.primary, host)
      await place('follow.lab.test', 60)
      await until(
        'both edges show the new one',
        async () => {
          const [one, two] = await Promise.all(edges.map((edge) => shownBy(edge, host)))
          return one !== undefined && one === two && one !== former
        },
        30_000,
      )
      expect(ordersAt(lab)).toBe(before)
      await until('nothing is under way', async () => (await run(lab, planId, 'remove')).status === 200)
      await invariants(lab)
    },
  )

  test('is served also while a renewal that failed waits for its next try', async () => {
    const { planId, host } = await applied(lab, { subdomain: 'waiting', tls: true })
    const { primary } = lab.description.edges
    const former = await shownBy(primary, host)
    await housekeeping(lab, 'renew')
    change(lab, 'update renewals set failures = 3, next_attempt_at = ?', Date.now() + 86_400_000)
    await place(host, 3_000)
    await housekeeping(lab, 'renew')
    await until('the Primary shows it', async () => ![former, undefined].includes(await shownBy(primary, host)))
    await until('nothing is under way', async () => (await run(lab, planId, 'remove')).status === 200)
    await invariants(lab)
  })
})

describe('a renewal by request', () => {
  let planId: string
  let host: string
  beforeAll(async () => {
    ;({ planId, host } = await applied(lab, { subdomain: 'asked', tls: true }))
  })
  const serial = async () => (await serials(lab, host))[0] ?? ''

  test('orders one certificate although none is due, serves it on both edges before it answers, and is audited', async () => {
    const [former, orders] = [await serial(), ordersAt(lab)]
    const { edges, acme } = lab.description
    const visitors = startVisiting([edges.primary, edges.secondary], [host], () => readFileSync(acme.ca, 'utf8'))
    const { status, body } = await run(lab, planId, 'renew')
    expect([status, body]).toMatchObject([
      200,
      { planId, host, state: 'applied', warnings: [], certificate: { names: [host], source: 'issued' } },
    ])
    const [primary, secondary] = await serials(lab, host)
    expect(primary).not.toBe(former)
    expect(secondary).toBe(primary)
    expect(ordersAt(lab) - orders).toBe(1)
    await until('a visitor sees it', () => visitors.seen.length > 1)
    expect(visitors.seen.map(({ serial: shown }) => shown)).toEqual([former, primary])
    expect((await visitors.stop()).failures).toEqual([])
    const shown = (await lab.call({ path: `/api/health?host=${host}` })).body.certificate
    expect(shown.notAfter).toBe(body.certificate.notAfter)
    const { lines } = (await lab.call({ path: '/api/audit' })).body
    expect(lines.at(-1)).toMatchObject({ action: 'renew', outcome: 'ok', planId, facts: { source: 'issued' } })
    await invariants(lab)
  })

  test('asked for many times at once ends well or busy each time, and every host stays as its books say', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => run(lab, planId, 'renew')))
    const ended = answers.map(({ status, body }) => (status === 200 ? 'renewed' : body.code))
    expect(ended).toContain('renewed')
    expect(new Set(ended).difference(new Set(['renewed', 'plan_busy'])).size).toBe(0)
    await until('both edges agree', async () => new Set(await serials(lab, host)).size === 1)
    await invariants(lab)
  })

  test('by the command line tells until when the new one is valid', async () => {
    const former = await serial()
    const { code, stdout, stderr } = await command(['renew', host, '--url', lab.description.inside])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^${host} is served with a certificate for ${host}, valid until 20.*issued`, 'm'))
    expect(await serial()).not.toBe(former)
  })

  test('needs a capability of its own', async () => {
    const path = '/api/deploy/renew'
    const bare = await lab.call({ path, body: { planId } })
    expect([bare.status, bare.body.code]).toEqual([401, 'capability_required'])
    const headers = { 'x-deploy-capability': await granted(lab, planId, 'apply') }
    expect((await lab.call({ path, body: { planId }, headers })).body.code).toBe('capability_invalid')
  })

  test('is refused without TLS, before an apply and after a removal', async () => {
    const plain = await applied(lab, { subdomain: 'plain' })
    expect((await run(lab, plain.planId, 'renew')).body).toMatchObject({
      code: 'certificate_unavailable',
      retryable: false,
    })
    const { planId: never } = await planned(lab, { subdomain: 'never', tls: true })
    expect((await run(lab, never, 'renew')).body.code).toBe('plan_not_applied')
    await removed(lab, plain.planId)
    expect((await run(lab, plain.planId, 'renew')).body.code).toBe('plan_not_applied')
  })

  afterAll(() => removed(lab, planId))
})

describe('a renewal', () => {
  let planId: string
  let host: string
  beforeAll(async () => {
    ;({ planId, host } = await applied(lab, { subdomain: 'kept', tls: true }))
  })
  const serial = async () => (await serials(lab, host))[0] ?? ''
  const failures = () => rowsOf<{ failures: number; reason: string }>(lab, 'select * from renewals')

  /** Every certificate has been tried once. */
  async function calledForAndTried(): Promise<void> {
    await callForRenewal(lab)
    await housekeeping(lab, 'renew')
  }

  /** nginx goes on, but nobody can tell it to load anything. */
  async function withoutReloads(edge: EdgeDescription, work: () => Promise<void>): Promise<void> {
    const pid = readFileSync(edge.pidFile)
    writeFileSync(edge.pidFile, '')
    await work().finally(() => writeFileSync(edge.pidFile, pid))
  }

  test('that cannot be proven leaves the old certificate in use, says why, and succeeds later with the same order', async () => {
    const [former, orders] = [await serial(), ordersAt(lab)]
    await withoutReloads(lab.description.edges.primary, async () => {
      await calledForAndTried()
      await until('it has failed', () => failures().some((row) => row.failures > 0))
      expect(failures()[0]?.reason).toMatch(/^The reload of nginx is not confirmed\./)
      expect(await serials(lab, host)).toEqual([former, former])
    })
    await untilReplaced(lab, [host], former)
    expect(ordersAt(lab) - orders).toBe(1)
    const events = rowsOf<{ type: string; facts: string }>(lab, `select type, facts from events where host = '${host}'`)
    expect(events.map(({ type }) => type)).toContain('certificate.renewal_failed')
    expect(JSON.parse(events.find(({ type }) => type === 'certificate.renewed')?.facts ?? '{}').serial).toBe(
      await serial(),
    )
    await invariants(lab)
  })

  test('does not wait for the Secondary, which follows when it can', async () => {
    const former = await serial()
    const { primary, secondary } = lab.description.edges
    await withoutReloads(secondary, async () => {
      await calledForAndTried()
      await until('the Primary has it', async () => (await shownBy(primary, host)) !== former)
      expect(await shownBy(secondary, host)).toBe(former)
    })
    await housekeeping(lab, 'converge')
    await untilReplaced(lab, [host], former)
    await invariants(lab)
  })

  test('leaves a file alone that somebody edited, and replaces the certificate all the same', async () => {
    const former = await serial()
    const file = entryFile(lab.description.edges.primary, host)
    const ours = readFileSync(file, 'utf8')
    const edited = `${ours}# a note of the administrator\n`
    writeFileSync(file, edited)
    await calledForAndTried()
    await untilReplaced(lab, [host], former)
    expect(readFileSync(file, 'utf8')).toBe(edited)
    writeFileSync(file, ours)
    await invariants(lab)
  })

  test.runIf(process.env.CAMPAIGN)('by http-01 is answered by the Primary beside what it serves', async () => {
    const former = await serial()
    await lab.restartService((config) => ({
      ...eager(config),
      acme: { ...(config.acme as object), challenge: 'http-01' },
    }))
    await calledForAndTried()
    await untilReplaced(lab, [host], former)
    await lab.restartService(eager)
    await invariants(lab)
  })

  /** A renewal that begins meanwhile is waited for, and nothing else may be in the way. */
  async function removedBetweenRenewals(exposed: string): Promise<void> {
    const outcomes: string[] = []
    await until(
      'it is removed',
      async () => {
        const { status, body } = await run(lab, exposed, 'remove')
        outcomes.push(status === 200 ? 'removed' : body.code)
        return status === 200
      },
      60_000,
    )
    expect(new Set(outcomes.slice(0, -1)).difference(new Set(['plan_busy'])).size).toBe(0)
    await invariants(lab)
  }

  test('and a removal at the same time end one after the other', async () => {
    await callForRenewal(lab)
    await removedBetweenRenewals(planId)
    await removedBetweenRenewals((await applied(lab, { subdomain: 'kept', tls: true })).planId)
  })

  test.runIf(process.env.CAMPAIGN)(
    'whose authority is away fails and says so, and one order replaces the certificate when it is back',
    async () => {
      const [{ planId: exposed, host: waiting }, before] = [
        await applied(lab, { subdomain: 'away', tls: true }),
        ordersAt(lab),
      ]
      const [former = ''] = await serials(lab, waiting)
      await losePebble(lab)
      await callForRenewal(lab)
      await until('a try has failed', () => failures().some((row) => row.failures > 0))
      expect(failures()[0]?.reason).toMatch(/certificate authority/)
      expect(await serials(lab, waiting)).toEqual([former, former])
      const pebble = await startPebbleAgain(lab, 86_400)
      try {
        await untilReplaced(lab, [waiting], former)
        expect(ordersAt(lab) - before).toBe(1)
        await removedBetweenRenewals(exposed)
      } finally {
        await pebble.stop()
      }
    },
  )
})

test('a renewal that the order budget forbids says when to come again, and the certificate stays', async () => {
  const { planId, host } = await applied(lab, { subdomain: 'frugal', tls: true })
  const former = await serials(lab, host)
  await lab.stopService()
  await using _service = await serviceHere(lab, ({ acme }) => {
    acme.limits = { ordersPerAccount: '1 per 30d' }
  })
  const { status, body, headers } = await run(lab, planId, 'renew')
  expect([status, body.code]).toEqual([422, 'certificate_unavailable'])
  expect(headers['retry-after']).toBe(String(body.retryAfter))
  expect(await serials(lab, host)).toEqual(former)
  await removed(lab, planId)
  await invariants(lab)
})
