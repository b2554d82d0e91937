import { createHash } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startWebBackend, type WebBackend } from '../../support/backends/web-backend.ts'
import { viewOf } from '../../support/edge/edge-folder.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { type Visit, visit as visitEdge } from '../../support/edge/visitor.ts'
import { invariants, planned, planRequest, run } from '../../support/lab/exposure.ts'
import { startTestLab, type TestLab } from '../../support/lab/lab.ts'
import { command } from '../../support/programs/command.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 })

/** Every option is seen through a real nginx, in both layouts, on one host that is changed in place. */
let lab: TestLab
let backend: WebBackend
let release: () => void = () => undefined

/** The files that the configuration names. The workers of nginx read them as another user. */
const folder = tempFolder()
const at = (name: string) => join(folder.path, name)
const configure = (config: Record<string, unknown>) => ({
  ...config,
  options: {
    passwords: { office: at('office.htpasswd') },
    authorities: { inside: at('authority.pem'), other: at('other.pem') },
    snippets: { teapot: at('teapot.conf'), broken: at('broken.conf') },
  },
})

async function writeNamedFiles() {
  chmodSync(folder.path, 0o755)
  const hashed = createHash('sha1').update('open sesame').digest('base64')
  writeFileSync(at('office.htpasswd'), `ali:{SHA}${hashed}\n`)
  writeFileSync(at('teapot.conf'), 'location = /teapot { return 418; }\n')
  writeFileSync(at('broken.conf'), 'no_such_directive on;\n')
  const wish = { names: ['DNS:app.inside.test'] }
  await makeCertificate({ ...wish, certificate: at('authority.pem'), key: at('authority.key') })
  await makeCertificate({ ...wish, certificate: at('other.pem'), key: at('other.key') })
}

beforeAll(async () => {
  lab = await startTestLab({ configure })
  await writeNamedFiles()
  backend = await startWebBackend(lab, async (request, response) => {
    if (request.url === '/silent') return
    response.setHeader('x-frame-options', 'from-the-backend')
    if (request.url === '/stream') {
      response.write('first\n')
      await new Promise<void>((resolve) => {
        release = resolve
      })
    }
    request.resume().on('end', () => response.end(JSON.stringify(request.headers)))
  })
})
afterAll(async () => {
  await backend?.[Symbol.asyncDispose]()
  await lab?.stop()
  folder[Symbol.dispose]()
})

const edge = () => lab.description.edges.primary
const host = () => `tuned.${lab.description.zone}`
const visit = (visitor: Omit<Visit, 'host'> = {}) => visitEdge(edge(), { host: host(), ...visitor })

const health = async () => (await lab.call({ path: `/api/health?host=${host()}` })).body

const UPGRADE = { upgrade: 'websocket', connection: 'upgrade' }

let standing: string | undefined
/** Gives the host these options, and no others. */
async function tuned(options: object | undefined, more: Record<string, unknown> = {}) {
  const { planId } = await planned(lab, {
    ...{ subdomain: 'tuned', port: backend.port, health: '/', ...more },
    ...(options && { options }),
    ...(standing !== undefined && { replaces: standing }),
  })
  const answer = await run(lab, planId)
  expect(answer.body).toMatchObject({ state: 'applied' })
  standing = planId
  return lab.call({ path: `/api/deploy/plans/${planId}` })
}

const layoutOf = (edgeOf = edge()) =>
  readFileSync(`${viewOf(edgeOf).folder}/drawbridge.conf`, 'utf8').includes('proxy_pass $drawbridge_backend')
    ? 'lines'
    : 'blocks'

async function useLayout(layout: string) {
  if (layout === 'lines') return
  await lab.restartService((config) => {
    const edges = Object.entries(config.edges as Record<string, object>)
    return {
      ...configure(config),
      edges: Object.fromEntries(edges.map(([server, one]) => [server, { ...one, layout }])),
    }
  })
  await until(`the edge has ${layout}`, () => layoutOf() === layout)
}

describe.each(process.env.CAMPAIGN ? ['lines', 'blocks'] : ['lines'])('with the layout %s', (layout) => {
  beforeAll(async () => {
    await tuned(undefined)
    await useLayout(layout)
  })

  test('without options large bodies and WebSocket pass', async () => {
    expect(await visit({ bodyLength: 1_500_000 })).toMatchObject({ status: 200 })
    expect(JSON.parse((await visit({ headers: UPGRADE })).text)).toMatchObject({ upgrade: 'websocket' })
  })

  test('the size of bodies, timeouts, WebSocket off, buffering off, response headers and access by network, at once', async () => {
    const { internal, public: outside } = lab.description.callers
    const { body } = await tuned({
      maxBody: '1m',
      timeouts: { connect: 2, read: 1, send: 1 },
      websocket: false,
      buffering: false,
      headers: { frameOptions: 'DENY', contentTypeOptions: 'nosniff', referrerPolicy: 'no-referrer' },
      allow: [`${internal}/32`, '2001:db8::/32'],
    })
    expect(body.request.options).toMatchObject({ maxBody: '1m' })
    const from = internal
    expect(await visit({ from, bodyLength: 1_500_000 })).toMatchObject({ status: 413 })
    expect(await visit({ from, bodyLength: 900_000 })).toMatchObject({ status: 200 })
    expect(await visit({ from, path: '/silent' })).toMatchObject({ status: 504 })
    expect(JSON.parse((await visit({ from, headers: UPGRADE })).text)).not.toHaveProperty('upgrade')
    const { headers, status } = await visit({ from })
    expect({ status, ...headers }).toMatchObject({
      ...{ status: 200, 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' },
      'referrer-policy': 'no-referrer',
    })
    expect(headers).not.toHaveProperty('strict-transport-security')
    expect(await visit({ from: outside })).toMatchObject({ status: 403 })
    await until('the monitor calls it RUNNING', async () => (await health()).badge === 'RUNNING')
  })

  test('buffering off: the first part comes before the last is written', async () => {
    await tuned({ buffering: false, timeouts: { read: 30 } })
    const parts: string[] = []
    const visiting = visit({ path: '/stream', onPart: (part) => parts.push(part) })
    await until('the first part comes', () => parts.join('') === 'first\n')
    release()
    expect(await visiting).toMatchObject({ status: 200 })
  })

  test('HSTS with its parts', async () => {
    await tuned({ headers: { hsts: { maxAge: 3600, includeSubDomains: true, preload: true } } }, { tls: true })
    const { headers } = await visit({ ca: readFileSync(lab.description.acme.ca) })
    expect(headers['strict-transport-security']).toBe('max-age=3600; includeSubDomains; preload')
  })

  test('passwords, which the backend does not see, and a snippet of the administrator; one that nginx refuses is put back', async () => {
    await tuned({ basicAuth: 'office', snippets: ['teapot'] })
    const authorization = (password: string) => `Basic ${Buffer.from(`ali:${password}`).toString('base64')}`
    expect(await visit()).toMatchObject({ status: 401 })
    expect(await visit({ headers: { authorization: authorization('wrong') } })).toMatchObject({ status: 401 })
    const headers = { authorization: authorization('open sesame') }
    const { status, text } = await visit({ headers })
    expect(status).toBe(200)
    expect(JSON.parse(text)).not.toHaveProperty('authorization')
    expect(await visit({ path: '/teapot', headers })).toMatchObject({ status: 418 })
    const { planId } = await planned(lab, {
      ...{ subdomain: 'tuned', port: backend.port, health: '/', replaces: standing, options: { snippets: ['broken'] } },
    })
    expect((await run(lab, planId)).body).toMatchObject({ code: 'apply_failed' })
    expect(await visit({ path: '/teapot', headers })).toMatchObject({ status: 418 })
  })

  test('a backend with HTTPS, and no other authority', async () => {
    const address = lab.description.backends.find(({ server }) => server === '25')?.address
    const pair = { cert: readFileSync(at('authority.pem')), key: readFileSync(at('authority.key')) }
    const secure = createServer(pair, (_, response) => void response.end('securely'))
    await new Promise<void>((resolve) => void secure.listen(0, address, resolve))
    const { port } = secure.address() as { port: number }
    const options = (authority: string) => ({ backendTls: { authority, name: 'app.inside.test' } })
    await tuned(options('inside'), { port })
    expect(await visit()).toMatchObject({ status: 200, text: 'securely' })
    const refused = await lab.call({
      path: '/api/deploy/plan',
      body: planRequest(lab, { subdomain: 'tuned', port, health: '/', replaces: standing, options: options('other') }),
    })
    expect(refused.body).toMatchObject({ code: 'backend_unhealthy' })
    secure.closeAllConnections()
    secure.close()
  })

  test('further backends: the next one answers when the first one is gone', async () => {
    const answer = (name: string) => startWebBackend(lab, (_, response) => void response.end(name))
    const [first, second] = [await answer('first'), await answer('second')]
    await tuned({ backends: [{ server: '25', port: second.port }] }, { port: first.port })
    expect(await visit()).toMatchObject({ status: 200, text: 'first' })
    await first[Symbol.asyncDispose]()
    for (let count = 0; count < 5; count += 1) expect(await visit()).toMatchObject({ status: 200, text: 'second' })
    await second[Symbol.asyncDispose]()
  })

  test('the maintenance page, also while the backend is down', async () => {
    const { body } = await tuned({ maintenance: { retryAfter: 120 } }, { port: 3999 })
    expect(body.checks).toContainEqual(expect.objectContaining({ name: 'health', status: 'warning' }))
    const { status, headers, text } = await visit()
    expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 503, retryAfter: '120' })
    expect(text).toContain('Under maintenance')
  })

  test('without options the host is written as every other one, and everything agrees', async () => {
    const { body } = await tuned(undefined)
    expect(body.request).not.toHaveProperty('options')
    expect(await visit()).toMatchObject({ status: 200 })
    await until(
      'store, zone and edges agree',
      () =>
        invariants(lab).then(
          () => true,
          () => false,
        ),
      60_000,
    )
  })
})

/** As a person types it. */
const typed = async (...words: string[]) => {
  const ended = await command(words, { environment: { DRAWBRIDGE_URL: lab.description.inside } })
  expect(ended, words.join(' ')).toMatchObject({ code: 0 })
  return ended.stdout
}

describe('on the command line', () => {
  const up = (...flags: string[]) =>
    typed(
      'up',
      host(),
      '--server',
      '25',
      '--port',
      String(backend.port),
      '--health',
      '/',
      '--no-tls',
      '--yes',
      ...flags,
    )

  test('a change keeps the options that it does not name, and --no-options drops them', async () => {
    await up('--max-body', '1k', '--header', 'frame-options=DENY')
    expect(await visit({ bodyLength: 2_000 })).toMatchObject({ status: 413 })
    await up('--no-buffering')
    expect(await visit({ bodyLength: 2_000 })).toMatchObject({ status: 413 })
    expect((await visit()).headers).toMatchObject({ 'x-frame-options': 'DENY' })
    await up('--no-options')
    expect(await visit({ bodyLength: 2_000 })).toMatchObject({ status: 200 })
  })

  test('maintenance is switched on and off, and keeps the other options', async () => {
    await up('--max-body', '1k')
    await typed('maintenance', host(), 'on', '--retry-after', '10m')
    const { status, headers } = await visit()
    expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 503, retryAfter: '600' })
    expect(await typed('status', '--search', host())).toMatch(/RUNNING \(maintenance\)/)
    const row = async (from: 'internal' | 'public') =>
      (await lab.call({ path: `/api/health?host=${host()}`, from })).body
    expect((await row('internal')).maintenance).toBe(true)
    expect(await row('public')).not.toHaveProperty('maintenance')
    await typed('maintenance', host(), 'off')
    expect(await typed('status', '--search', host())).not.toContain('maintenance')
    expect(await visit()).toMatchObject({ status: 200 })
    expect(await visit({ bodyLength: 2_000 })).toMatchObject({ status: 413 })
    expect(await typed('maintenance', host(), 'off')).toContain('is not under maintenance')
  })

  test('an unknown host gets the nearest name', async () => {
    const environment = { DRAWBRIDGE_URL: lab.description.inside }
    for (const about of ['status', 'show']) {
      const { code, stderr } = await command([about, `x${host()}`], { environment })
      expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([3, expect.stringContaining(`Did you mean ${host()}?`)])
    }
    const far = await command(['status', 'nothing-like-it.lab.test'], { environment })
    expect([far.code, far.stderr]).toEqual([3, expect.not.stringContaining('Did you mean')])
  })

  test('maintenance of a host of another owner needs a word', async () => {
    await up('--owner', 'ann')
    const environment = { DRAWBRIDGE_URL: lab.description.inside }
    const refused = await command(['maintenance', host(), 'on', '--owner', 'ben'], { environment })
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('--other-owner')
    expect(await visit()).toMatchObject({ status: 200 })
  })
})
