import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { startSwitchedBackend } from '../../support/backends/switched-backend.ts'
import { addOwnHosts } from '../../support/edge/foreign-hosts.ts'
import { type Agent, errorOf, startAgentHere, structured } from '../../support/http/agent.ts'
import { editEntry, entryFile } from '../../support/lab/entry-file.ts'
import { untilChecked } from '../../support/lab/housekeeping.ts'
import type { TestLab } from '../../support/lab/lab.ts'
import { borrowLab } from '../../support/lab/shared-lab.ts'

/** Agents inside and outside that have listed their tools: the client throws at an answer that its outputSchema forbids. */
let lab: TestLab
let inside: Agent
let outside: Agent
let takeOwnHosts: (() => void) | undefined

beforeAll(async () => {
  lab = await borrowLab()
  inside = await startAgentHere(lab.description.inside)
  outside = await startAgentHere(lab.description.outside)
})

afterAll(async () => {
  await inside?.close()
  await outside?.close()
  takeOwnHosts?.()
  await lab?.stop()
})

const request = (subdomain: string, more: object = {}) => ({
  zone: lab.description.zone,
  subdomain,
  server: '25',
  port: 3000,
  health: '/healthz',
  tls: false,
  ...more,
})

const hostOf = (subdomain: string) => `${subdomain}.${lab.description.zone}`

async function badgeBecomes(subdomain: string, badge: string): Promise<void> {
  const badgeNow = async () => (await inside.use('check_host', { host: hostOf(subdomain) })).structuredContent?.badge
  await untilChecked(lab, `${subdomain} is ${badge}`, async () => (await badgeNow()) === badge)
}

/** Every tool that looks, for both kinds of callers; the causes that were named. */
async function lookedAt(subdomain: string): Promise<string[]> {
  const host = hostOf(subdomain)
  const causes: string[] = []
  for (const { use } of [inside, outside]) {
    expect(structured(await use('check_host', { host })).host).toBe(host)
    expect(structured(await use('list_hosts', { search: subdomain })).hosts).toMatchObject([{ host }])
    const { cause } = structured(await use('diagnose_host', { host })) as unknown as { cause: { code: string } }
    causes.push(cause.code)
  }
  return [...new Set(causes)]
}

test('every tool is offered with an open outputSchema, a closed inputSchema and honest hints; read-only ones change nothing', async () => {
  const reading = await startAgentHere(lab.description.inside, { readOnly: true })
  await reading.close()
  const plans = ['wait_for_host', 'get_plan', 'list_plans', 'recent_events', 'compare_exposure']
  const looks = ['get_policy', 'list_hosts', 'check_host', 'diagnose_host', ...plans]
  const drift = ['repair_exposure', 'accept_exposure', 'renew_certificate']
  const changes = ['apply_plan', 'remove_exposure', 'extend_exposure', ...drift, 'set_maintenance', 'mute_host']
  const offered = reading.tools.map(({ name }) => name)
  expect(offered).toEqual([...looks, 'plan_exposure'])
  expect(inside.tools.map(({ name }) => name)).toEqual([...offered, ...changes])
  for (const { name, inputSchema, outputSchema, annotations } of inside.tools) {
    expect(outputSchema?.type, name).toBe('object')
    expect(outputSchema?.additionalProperties, name).not.toBe(false)
    expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false })
    expect(annotations?.readOnlyHint).toBe(looks.includes(name))
  }
  const hints = new Map(inside.tools.map(({ name, annotations }) => [name, annotations?.destructiveHint]))
  expect(hints.get('remove_exposure')).toBe(true)
  expect(hints.get('repair_exposure')).toBe(true)
  expect(hints.get('accept_exposure')).toBe(true)
  expect(hints.get('apply_plan')).toBe(false)
})

describe("the SDK's client accepts every answer by its schema", () => {
  test('in a whole life with HTTPS and an end: policy, plan, apply, check, list, diagnose, remove', async () => {
    expect(structured(await inside.use('get_policy')).caller).toMatchObject({ network: 'internal' })
    const plan = structured(
      await inside.use(
        'plan_exposure',
        request('agent-life', { tls: true, expiresIn: 3600, options: { maxBody: '2m' } }),
      ),
    )
    expect(plan).toMatchObject({ state: 'planned', host: hostOf('agent-life') })
    const { planId } = plan
    expect(structured(await inside.use('get_plan', { planId }))).toMatchObject({
      state: 'planned',
      request: { options: { maxBody: '2m' } },
    })
    const heard: string[] = []
    const applying = await inside.use('apply_plan', { planId }, ({ message = '' }) => heard.push(message))
    expect(structured(applying)).toMatchObject({ state: 'applied', verification: { primary: { ok: true } } })
    expect(heard).toEqual(expect.arrayContaining(['check: started', 'dns: done', 'verify: done']))
    const host = hostOf('agent-life')
    expect(structured(await inside.use('wait_for_host', { host }))).toMatchObject({ reached: true, badge: 'RUNNING' })
    expect(structured(await inside.use('wait_for_host', { host, badge: 'DOWN', timeoutSeconds: 1 }))).toMatchObject({
      reached: false,
      badge: 'RUNNING',
    })
    expect(structured(await inside.use('get_plan', { host }))).toMatchObject({ planId, state: 'applied' })
    expect(structured(await inside.use('list_plans')).plans?.[0]).toMatchObject({ planId })
    expect(structured(await inside.use('extend_exposure', { host, expiresIn: 7200 }))).toMatchObject({ planId })
    expect(errorOf(await inside.use('extend_exposure', { planId, expiresIn: 300 }))).toMatchObject({
      code: 'lease_not_longer',
    })
    const { events } = structured(await inside.use('recent_events', { host })) as unknown as { events: object[] }
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'exposure.applied' }),
        expect.objectContaining({ type: 'exposure.extended' }),
      ]),
    )
    expect(await lookedAt('agent-life')).toEqual(['healthy'])
    expect(structured(await inside.use('check_host', { host: hostOf('agent-life') }))).toMatchObject({ planId })
    expect(structured(await inside.use('remove_exposure', { planId }))).toMatchObject({ state: 'removed' })
    expect(errorOf(await inside.use('remove_exposure', { planId }))).toMatchObject({ code: 'plan_not_applied' })
  }, 90_000)

  test('of a caller outside, who may look and plan', async () => {
    expect(structured(await outside.use('get_policy')).caller).toMatchObject({ network: 'public' })
    const { planId } = structured(await outside.use('plan_exposure', request('from-outside')))
    expect(errorOf(await outside.use('apply_plan', { planId }))).toMatchObject({ code: 'internal_network_required' })
    expect(errorOf(await outside.use('remove_exposure', { planId }))).toMatchObject({
      code: 'internal_network_required',
    })
    expect(structured(await outside.use('get_plan', { planId }))).toMatchObject({ state: 'planned' })
    for (const [tool, args] of [
      ['list_plans', {}],
      ['recent_events', {}],
      ['extend_exposure', { planId, expiresIn: 3600 }],
    ] as const)
      expect(errorOf(await outside.use(tool, args)), tool).toMatchObject({ code: 'internal_network_required' })
  })

  test('of a host that is well, then drifts, is repaired, then has no backend', async () => {
    await using backend = await startSwitchedBackend(lab, 'here\n')
    const { planId } = structured(await inside.use('plan_exposure', request('changing', { port: backend.port })))
    await inside.use('apply_plan', { planId })
    await badgeBecomes('changing', 'RUNNING')
    editEntry(entryFile(lab.description.edges.primary, hostOf('changing')), hostOf('changing'))
    await badgeBecomes('changing', 'DRIFT')
    expect(await lookedAt('changing')).toEqual(['file_edited'])
    structured(await inside.use('repair_exposure', { planId, overwrite: true }))
    await backend.stop()
    await badgeBecomes('changing', 'HTTP 502')
    expect(await lookedAt('changing')).toEqual(['nothing_listening'])
    expect(errorOf(await inside.use('plan_exposure', request('changing')))).toMatchObject({ code: 'dns_name_taken' })
  }, 60_000)

  test('of hosts that were not made here: served, down, without TLS, on a unix socket, proxied by a variable', async () => {
    const free = await freePort()
    takeOwnHosts = await addOwnHosts(
      lab,
      (address) => `
  server { listen ${address}:8080; server_name static.own.lab.test; return 204; }
  server { listen ${address}:8080; server_name mute.own.lab.test; return 444; }
  server { listen unix:${join(lab.state, 'own.sock')}; listen ${address}:${free}; server_name sock.own.lab.test; return 204; }
  server { listen ${address}:8080; server_name any.own.lab.test; location / { proxy_pass http://$http_x_any; } }
`,
    )
    await badgeBecomes('mute.own', 'DOWN')
    await badgeBecomes('static.own', 'RUNNING')
    for (const name of ['static.own', 'mute.own', 'sock.own', 'any.own'])
      for (const { use } of [inside, outside]) {
        const host = hostOf(name)
        // Whether callers outside are shown these hosts at all is the administrator's choice.
        for (const tool of ['check_host', 'diagnose_host']) {
          const { isError, structuredContent } = await use(tool, { host })
          if (use === inside.use) expect(isError, `${tool} ${host}`).not.toBe(true)
          if (structuredContent) expect(structuredContent).toMatchObject({ host, managed: false })
        }
        structured(await use('list_hosts', { search: name, badge: 'RUNNING,DOWN,HTTP 500', limit: 500 }))
      }
  }, 60_000)

  test('of refusals: an unhealthy backend, a plan and a host that are not there', async () => {
    expect(errorOf(await inside.use('plan_exposure', request('sick', { server: '253' })))).toMatchObject({
      code: 'backend_unhealthy',
      retryable: true,
      nextAction: expect.any(String),
      checks: expect.any(Array),
    })
    expect(errorOf(await inside.use('apply_plan', { planId: 'plan_none' }))).toMatchObject({ code: 'plan_not_found' })
    expect(errorOf(await inside.use('check_host', { host: 'nobody.test' }))).toMatchObject({ code: 'host_not_found' })
    expect(errorOf(await inside.use('diagnose_host', { host: 'a b' }))).toMatchObject({ code: 'invalid_request' })
  })
})

test('an argument that is not known is refused, with an error like any other', async () => {
  const error = errorOf(await inside.use('plan_exposure', { ...request('misspelt'), expires_in: 600, port: '3000' }))
  expect(error).toEqual({
    code: 'invalid_request',
    detail: expect.stringContaining('expires_in'),
    errors: [
      { field: 'port', message: 'must be integer' },
      { field: 'expires_in', message: 'is not a known field' },
    ],
    retryable: false,
    nextAction: expect.stringContaining('plan_exposure'),
  })
})

test('the schemas of the arguments tell what the policy allows', () => {
  const plan = inside.tools.find(({ name }) => name === 'plan_exposure')?.inputSchema.properties
  expect(plan).toMatchObject({
    zone: { enum: ['lab.test'] },
    server: { enum: ['23', '25', '253'] },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    expiresIn: { type: 'integer', minimum: 300, maximum: 2_592_000 },
    health: { pattern: expect.stringMatching(/^\^.*\$$/), maxLength: 1024 },
  })
})

test('tools are listed while the service cannot be reached', async () => {
  const lost = await startAgentHere(`http://127.0.0.1:${await freePort()}`)
  expect(lost.tools).toHaveLength(18)
  expect(errorOf(await lost.use('get_policy'))).toMatchObject({ code: 'unreachable', retryable: true })
  await lost.close()
})
