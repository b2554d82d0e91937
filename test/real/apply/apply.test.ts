import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditLine } from '../../../src/model/audit.ts'
import { zoneRecords } from '../../support/dns/zone-transfer.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { visit } from '../../support/edge/visitor.ts'
import {
  applied,
  granted,
  invariants,
  planned,
  planOf,
  removed,
  run,
  runWith,
  world,
} from '../../support/lab/exposure.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { change, withStore } from '../../support/lab/lab-store.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'

/** The built service on a whole lab: real BIND, two nginx, Pebble and backends. */
let lab: TestLab
beforeAll(async () => {
  lab = await borrowLab()
})
afterAll(() => lab?.stop())

const caOfLab = () => readFileSync(lab.description.acme.ca)
const stepNames = (body: { steps: { name: string; status: string }[] }) =>
  body.steps.map(({ name, status }) => `${name} ${status}`)
const auditOf = (planId: string): Promise<AuditLine[]> =>
  withStore(lab, async (store) => (await store.readAudit(0, 10_000)).filter((line) => line.planId === planId))

test('one life with a certificate from the authority: applied, served by both edges, in the zone and the books, removed', async () => {
  const before = await world(lab)
  const { planId } = await planned(lab, { subdomain: 'applied', tls: true })
  const answer = await run(lab, planId)
  expect(answer.status).toBe(200)
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(Object.keys(answer.body).toSorted()).toEqual(
    'appliedAt host planId state steps url verification warnings'.split(' '),
  )
  expect(answer.body).toMatchObject({
    planId,
    state: 'applied',
    host: 'applied.lab.test',
    url: 'https://applied.lab.test:8443/',
    verification: {
      primary: { server: '23', ok: true, httpStatus: 200 },
      secondary: { server: '73', ok: true, optional: true },
    },
    warnings: [],
  })
  expect(stepNames(answer.body)).toEqual(
    ['check', 'backup', 'certificate', 'proxy', 'dns', 'verify'].map((name) => `${name} done`),
  )
  expect(answer.body.steps.every(({ ms }: { ms: unknown }) => typeof ms === 'number')).toBe(true)
  expect(Date.parse(answer.body.appliedAt)).toBeLessThanOrEqual(Date.now())

  const { primary, secondary } = lab.description.edges
  for (const edge of [primary, secondary]) {
    const seen = await visit(edge, { host: 'applied.lab.test', ca: caOfLab() })
    expect(seen).toMatchObject({ status: 200, text: expect.stringContaining('server 25') })
    expect((await visit(edge, { host: 'applied.lab.test' })).status).toBe(308)
  }
  expect((await zoneRecords(lab)).filter(({ name }) => name.endsWith('applied.lab.test'))).toEqual([
    {
      name: '_drawbridge.applied.lab.test',
      ttl: '60',
      type: 'TXT',
      value: expect.stringMatching(/^"drawbridge exposure_/),
    },
    { name: 'applied.lab.test', ttl: '60', type: 'A', value: primary.address },
  ])
  expect(await planOf(lab, planId)).toMatchObject({
    state: 'applied',
    lastRun: { action: 'apply', state: 'succeeded', finishedAt: expect.any(String) },
  })
  const again = await run(lab, planId)
  expect([again.status, again.body.code]).toEqual([409, 'plan_already_applied'])
  await invariants(lab)

  const removal = await run(lab, planId, 'remove')
  expect(removal.status).toBe(200)
  expect(Object.keys(removal.body).toSorted()).toEqual('host planId removedAt state steps'.split(' '))
  expect(removal.body).toMatchObject({ planId, state: 'removed', host: 'applied.lab.test' })
  expect(stepNames(removal.body)).toEqual(['backup done', 'dns done', 'proxy done'])
  expect(await world(lab)).toEqual(before)
  expect((await planOf(lab, planId)).state).toBe('removed')
  await expect(visit(primary, { host: 'applied.lab.test', ca: caOfLab() })).rejects.toThrow()
  await invariants(lab)
  const caller = { actor: lab.description.callers.internal, network: 'internal', host: 'applied.lab.test', planId }
  const lines = await auditOf(planId)
  expect(lines.map(({ action, outcome, code }) => [action, outcome, code])).toEqual([
    ['plan', 'ok', undefined],
    ['token', 'ok', undefined],
    ['apply', 'ok', undefined],
    ['token', 'ok', undefined],
    ['apply', 'refused', 'plan_already_applied'],
    ['token', 'ok', undefined],
    ['remove', 'ok', undefined],
  ])
  for (const line of lines.filter(({ outcome }) => outcome === 'ok')) expect(line).toMatchObject(caller)

  const next = await planned(lab, { subdomain: 'applied', tls: true })
  expect(next.changes[0]).toMatchObject({ kind: 'certificate', action: 'reuse', names: ['applied.lab.test'] })
  expect((await run(lab, next.planId)).status).toBe(200)
  expect((await visit(primary, { host: 'applied.lab.test', ca: caOfLab() })).status).toBe(200)
  await removed(lab, next.planId)
  expect(await world(lab)).toEqual(before)
})

test('without TLS the host is served by http alone', async () => {
  const before = await world(lab)
  const body = await applied(lab, { subdomain: 'plain' })
  expect(body).toMatchObject({ url: 'http://plain.lab.test:8080/', verification: { primary: { ok: true } } })
  expect(stepNames(body)).toEqual(['check', 'backup', 'proxy', 'dns', 'verify'].map((name) => `${name} done`))
  const { primary } = lab.description.edges
  expect(await visit(primary, { host: 'plain.lab.test' })).toMatchObject({ status: 200 })
  await expect(visit(primary, { host: 'plain.lab.test', ca: caOfLab() })).rejects.toThrow()
  await invariants(lab)
  await removed(lab, body.planId)
  expect(await world(lab)).toEqual(before)
})

test('a wildcard certificate that the administrator put there is used for all its hosts, and stays for the last', async () => {
  const before = await world(lab)
  const at = (name: string) => join(lab.state, 'certificates', name)
  await makeCertificate({ certificate: at('wildcard.pem'), key: at('wildcard.key'), names: ['DNS:*.lab.test'] })
  const ca = readFileSync(at('wildcard.pem'))
  const first = await planned(lab, { subdomain: 'one', tls: true })
  expect(first.changes[0]).toMatchObject({ kind: 'certificate', action: 'reuse', names: ['*.lab.test'] })
  const answer = await run(lab, first.planId)
  expect(answer.status).toBe(200)
  const second = await applied(lab, { subdomain: 'two', tls: true })
  const { primary } = lab.description.edges
  for (const host of ['one.lab.test', 'two.lab.test']) expect((await visit(primary, { host, ca })).status).toBe(200)
  await invariants(lab)
  await removed(lab, first.planId)
  expect((await visit(primary, { host: 'two.lab.test', ca })).status).toBe(200)
  await invariants(lab)
  await removed(lab, second.planId)
  expect(await world(lab)).toEqual(before)
  for (const name of ['wildcard.pem', 'wildcard.key']) rmSync(at(name))
})

describe('what is refused', () => {
  test('removing a plan that was never applied', async () => {
    const { planId } = await planned(lab, { subdomain: 'idle' })
    const answer = await run(lab, planId, 'remove')
    expect([answer.status, answer.body.code]).toEqual([409, 'plan_not_applied'])
    expect((await planOf(lab, planId)).state).toBe('planned')
  })

  test('using a capability a second time', async () => {
    const { planId } = await planned(lab, { subdomain: 'twice' })
    const capability = await granted(lab, planId)
    expect((await runWith(lab, capability, planId)).status).toBe(200)
    const again = await runWith(lab, capability, planId)
    expect([again.status, again.body.code]).toEqual([403, 'capability_used'])
    const other = await runWith(lab, capability, planId, 'remove')
    expect(other.status).toBe(403)
    await removed(lab, planId)
    const removal = await run(lab, planId, 'remove')
    expect([removal.status, removal.body.code]).toEqual([409, 'plan_not_applied'])
  })

  test('applying a plan whose life is over, while an applied one never expires', async () => {
    const [late, live] = [await planned(lab, { subdomain: 'late' }), await applied(lab, { subdomain: 'live' })]
    const capability = await granted(lab, late.planId)
    for (const { planId } of [late, live])
      change(lab, 'update plans set expires_at = ? where plan_id = ?', Date.now() - 1, planId)
    const answer = await runWith(lab, capability, late.planId)
    expect([answer.status, answer.body.code]).toEqual([410, 'plan_expired'])
    expect((await planOf(lab, live.planId)).state).toBe('applied')
    await removed(lab, live.planId)
    await invariants(lab)
  })
})
