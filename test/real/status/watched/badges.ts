import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../../lab/free-port.ts'
import { startWebBackend, type WebBackend } from '../../../support/backends/web-backend.ts'
import { updateZone } from '../../../support/dns/lab-dns.ts'
import { addOwnHosts } from '../../../support/edge/foreign-hosts.ts'
import { makeExpiredCertificate } from '../../../support/edge/openssl.ts'
import { editEntry, entryFile } from '../../../support/lab/entry-file.ts'
import { applied, removed } from '../../../support/lab/exposure.ts'
import { untilChecked } from '../../../support/lab/housekeeping.ts'
import type { TestLab } from '../../../support/lab/lab.ts'
import { until } from '../../../support/until.ts'

const CANARY = 'canary-in-a-comment'

/** Every badge that the monitor gives, on hosts that were made here and on others. */
export function badges(given: () => TestLab, changed: (status: object) => Promise<void>): void {
  let lab: TestLab
  let takeOwnHosts: (() => void) | undefined
  let backend: WebBackend
  let status = 200

  beforeAll(async () => {
    lab = given()
    await changed({
      hosts: {
        'Paths.lab.test': { path: '/up?deep=1', good: [204, '500-502'], visibility: 'public' },
        'strict.lab.test': { good: ['200-299'] },
      },
    })
    const address = lab.description.backends[0]?.address ?? ''
    backend = await startWebBackend(lab, (_request, response) => response.writeHead(status).end())
    const pem = { certificate: join(lab.state, 'own.pem'), key: join(lab.state, 'own.key') }
    await makeExpiredCertificate({ ...pem, names: ['DNS:expired.lab.test'] })
    const byName = await freePort()
    takeOwnHosts = await addOwnHosts(
      lab,
      (edge) => `
  # ${CANARY}
  server { listen ${edge}:8080; server_name own.lab.test; location / { proxy_pass http://${address}:3000; } }
  server { listen ${edge}:8080; server_name busy.lab.test; return 503; }
  server { listen ${edge}:8080; server_name *.many.lab.test .dot.lab.test ~^w\\d+\\.lab\\.test$; return 204; }
  server { listen ${edge}:8080; server_name paths.lab.test; location = /up { return 501; } location / { return 404; } }
  server { listen ${edge}:8080; server_name strict.lab.test; return 403; }
  server { listen 127.1:${byName}; server_name named.lab.test; return 204; }
  server { listen ${edge}:${byName} proxy_protocol; server_name proxied.lab.test; return 204; }
  server { listen localhost:${byName}; server_name local.lab.test; return 204; }
  server { listen ${edge}:8080; server_name mute.lab.test; return 444; }
  server { listen ${edge}:8080; server_name away.lab.test; location / { proxy_pass http://127.0.0.9:9; } }
  server { listen ${edge}:8443; server_name expired.lab.test; return 204;
    ssl_certificate ${pem.certificate}; ssl_certificate_key ${pem.key}; }
`,
    )
  })

  afterAll(async () => {
    await backend?.[Symbol.asyncDispose]()
    takeOwnHosts?.()
  })

  const health = (host: string, from = 'internal') =>
    lab.call({ path: `/api/health?host=${encodeURIComponent(host)}`, from })
  const badgeOf = async (host: string): Promise<string> => (await health(host)).body.badge
  const turns = (host: string, badge: string) =>
    untilChecked(lab, `${host} shows ${badge}`, async () => (await badgeOf(host)) === badge)

  describe('a host that was made here', () => {
    test('is RUNNING within seconds of its apply, HTTP 502 without its backend, HTTP 503 when that says so', async () => {
      await using own = await startWebBackend(lab, (_request, response) => response.writeHead(status).end())
      const { host, planId } = await applied(lab, { subdomain: 'shop', port: own.port, health: '/up' })
      await turns(host, 'RUNNING')
      const { body } = await health(host)
      expect(body).toMatchObject({
        host,
        badge: 'RUNNING',
        lastCheck: { ok: true, httpStatus: 200, reason: null },
        server: '25',
        configPath: entryFile(lab.description.edges.primary, host),
        managed: true,
        tls: false,
        planId,
        uptime24h: 1,
        certificate: null,
      })
      expect(body.strip).toMatch(/^-*9$/)
      status = 503
      await turns(host, 'HTTP 503')
      status = 200
      await turns(host, 'RUNNING')
      await own[Symbol.asyncDispose]()
      await turns(host, 'HTTP 502')
      expect((await health(host)).body.uptime24h).toBeLessThan(1)
      await removed(lab, planId)
      expect((await health(host)).status).toBe(404)
    })

    test.runIf(process.env.CAMPAIGN)(
      'is NO DNS without its record and DRIFT with an edited file, and RUNNING when both are put right',
      async () => {
        const { host: nameless } = await applied(lab, { subdomain: 'nameless' })
        const { host: edited } = await applied(lab, { subdomain: 'edited' })
        const both = (first: string, second: string) => Promise.all([turns(nameless, first), turns(edited, second)])
        await both('RUNNING', 'RUNNING')
        const { address } = lab.description.edges.primary
        const file = entryFile(lab.description.edges.primary, edited)
        const before = readFileSync(file, 'utf8')
        updateZone(lab, `update delete ${nameless} A`)
        editEntry(file, edited, ` # ${CANARY}`)
        await both('NO DNS', 'DRIFT')
        expect((await health(edited)).text).not.toContain(CANARY)
        updateZone(lab, `update add ${nameless} 60 A ${address}`)
        writeFileSync(file, before)
        await both('RUNNING', 'RUNNING')
      },
    )

    test('with TLS is asked by its name and shows its certificate', async () => {
      const { host } = await applied(lab, { subdomain: 'shielded', tls: true })
      await turns(host, 'RUNNING')
      const { body } = await health(host)
      expect(body).toMatchObject({ tls: true, certificate: { level: 'ok' } })
      expect(Date.parse(body.certificate.notAfter)).toBeGreaterThan(Date.now())
    })
  })

  describe("a host of the edge's own configuration", () => {
    test.each([
      ['own.lab.test', 'RUNNING', '25'],
      ['busy.lab.test', 'HTTP 503', null],
      ['mute.lab.test', 'DOWN', null],
      ['expired.lab.test', 'CERT', null],
      ['away.lab.test', 'HTTP 502', '127.0.0.9'],
    ])('%s is %s', async (host, badge, server) => {
      await turns(host, badge)
      expect((await health(host)).body).toMatchObject({
        managed: false,
        server,
        configPath: lab.description.edges.primary.config,
        expiresAt: null,
      })
    })

    test('is asked and judged as the configuration says, and shown to whom it says', async () => {
      await turns('paths.lab.test', 'RUNNING')
      await turns('strict.lab.test', 'HTTP 403')
      const diagnose = (host: string) => lab.call({ path: `/api/diagnose?host=${host}` })
      expect((await diagnose('paths.lab.test')).body).toMatchObject({ badge: 'RUNNING' })
      expect((await diagnose('strict.lab.test')).body).toMatchObject({ badge: 'HTTP 403' })
      expect((await health('paths.lab.test', 'public')).body).toMatchObject({ badge: 'RUNNING', managed: false })
      const { body } = await lab.call({ path: '/api/hosts?managed=false', from: 'public' })
      expect(body.hosts.map(({ host }: { host: string }) => host)).toEqual(['paths.lab.test'])
      expect((await lab.call({ path: '/api/diagnose?host=paths.lab.test', from: 'public' })).status).toBe(200)
      expect((await health('strict.lab.test', 'public')).body.code).toBe('host_not_found')
    })

    test('that listens by a name is asked if the name is localhost, and PENDING otherwise', async () => {
      await turns('local.lab.test', 'RUNNING')
      expect(await badgeOf('named.lab.test')).toBe('PENDING')
      const { body } = await lab.call({ path: '/api/diagnose?host=named.lab.test' })
      expect(body).toMatchObject({ badge: 'PENDING', listen: [{ address: '127.1' }], cause: { code: 'unknown' } })
      expect(body.cause.sentence).toContain('The address at which nginx listens for the host is not known')
      expect(body.chain).toContainEqual({ link: 'edge', ok: null, detail: expect.stringContaining('not known') })
      expect(body.chain).toContainEqual(expect.objectContaining({ link: 'server_block', ok: null }))
    })

    test('that expects the PROXY protocol is PENDING, and not DOWN', async () => {
      await turns('local.lab.test', 'RUNNING')
      expect(await badgeOf('proxied.lab.test')).toBe('PENDING')
      const { body } = await lab.call({ path: '/api/diagnose?host=proxied.lab.test' })
      expect(body).toMatchObject({ badge: 'PENDING', listen: [{ proxyProtocol: true }], cause: { code: 'unknown' } })
      expect(body.cause.sentence).toContain('only with the PROXY protocol')
    })

    test('that has a wildcard or a pattern for a name is listed as such, and is no host', async () => {
      await turns('dot.lab.test', 'RUNNING')
      const { config } = lab.description.edges.primary
      const { body } = await lab.call({ path: '/api/hosts' })
      const common = { configPath: config, line: expect.any(Number), tls: false }
      expect(body.patterns).toEqual([
        { name: '*.many.lab.test', kind: 'wildcard', ...common },
        { name: '.dot.lab.test', kind: 'wildcard', ...common },
        { name: JSON.stringify('~^w\\d+\\.lab\\.test$'), kind: 'pattern', ...common },
      ])
      expect(body.hosts.filter(({ host }: { host: string }) => /many|[*~]/.test(host))).toEqual([])
      expect((await lab.call({ path: '/api/hosts', from: 'public' })).body).not.toHaveProperty('patterns')
    })

    test.runIf(process.env.CAMPAIGN)('is PENDING until its first check has ended', async () => {
      const { config, address } = lab.description.edges.primary
      // Nobody tells nginx: where the host should be served somebody else takes connections and says nothing.
      const mute = createServer(() => undefined).listen(3998, address)
      const block = `server { listen ${address}:3998; server_name late.lab.test; return 204; }`
      const text = readFileSync(config, 'utf8')
      writeFileSync(
        config,
        text.replace('include drawbridge/*.conf;', (include) => `${include}\n${block}`),
      )
      await until('it is listed', async () => (await health('late.lab.test')).status === 200)
      expect((await health('late.lab.test')).body).toMatchObject({ badge: 'PENDING', lastCheck: null, since: null })
      await turns('late.lab.test', 'DOWN')
      expect((await health('late.lab.test')).body.lastCheck).toMatchObject({ ok: false, reason: 'timeout' })
      mute.close()
      writeFileSync(config, text)
    })

    test('shows the public no host that was not made here, no plan and no content', async () => {
      await turns('away.lab.test', 'HTTP 502')
      const told = await Promise.all(
        ['away.lab.test', 'nobody.lab.test'].flatMap((host) =>
          ['health', 'diagnose'].map((route) => lab.call({ path: `/api/${route}?host=${host}`, from: 'public' })),
        ),
      )
      const shown = told.map(({ status, body }) => JSON.stringify([status, { ...body, requestId: '' }]))
      expect(new Set(shown).size).toBe(1)
      expect([told[0]?.status, told[0]?.body.code]).toEqual([404, 'host_not_found'])
      const hosts = await lab.call({ path: '/api/hosts', from: 'public' })
      const foreign = hosts.body.hosts.filter(({ managed }: { managed: boolean }) => !managed)
      expect(foreign.map(({ host }: { host: string }) => host)).toEqual(['paths.lab.test'])
      expect(hosts.body.total).toBe(hosts.body.hosts.length)
      expect(hosts.text).not.toMatch(new RegExp(`plan_|127\\.0\\.0\\.9|${CANARY}`))
    })
  })
}
