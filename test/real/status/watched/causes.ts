import { execFile } from 'node:child_process'
import { appendFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, isPortFree } from '../../../../lab/free-port.ts'
import { findProgram } from '../../../../lab/program.ts'
import type { Endpoint } from '../../../../src/model/address.ts'
import { masterPid, servingWorkers } from '../../../../src/nginx/process/nginx-workers.ts'
import { listenFrozen, listenMutely, listenSecurely, listenWeb } from '../../../support/backends/listener.ts'
import { startWebBackend, type WebBackend } from '../../../support/backends/web-backend.ts'
import { takes } from '../../../support/delay.ts'
import { updateZone } from '../../../support/dns/lab-dns.ts'
import { listing } from '../../../support/edge/edge-folder.ts'
import { addOwnHosts } from '../../../support/edge/foreign-hosts.ts'
import { makeAgedCertificate, makeCertificate, makeExpiredCertificate } from '../../../support/edge/openssl.ts'
import { certificateEntryFile, editEntry, entryFile } from '../../../support/lab/entry-file.ts'
import { applied, removed, world } from '../../../support/lab/exposure.ts'
import { housekeeping } from '../../../support/lab/housekeeping.ts'
import type { TestLab } from '../../../support/lab/lab.ts'
import { until } from '../../../support/until.ts'

/** Every cause is produced for real on a whole lab, and named. In the end the name server and the edge are gone. */
export function causes(given: () => TestLab, restored: () => Promise<void>): void {
  let lab: TestLab
  let shop: Endpoint
  let away: number
  let odd: WebBackend

  const ok = (_: unknown, response: { end(): void }) => response.end()
  const saying = (status: number) => (_: unknown, response: { writeHead(status: number): { end(): void } }) =>
    response.writeHead(status).end()

  beforeAll(async () => {
    lab = given()
    await restored()
    const { edges, dns, backends } = lab.description
    const edge = edges.primary.address
    const backend = backends.find(({ server }) => server === '25')?.address ?? ''
    shop = { address: backend, port: await portWithNeighbours(backend) }
    away = await freePort('0.0.0.0')
    updateZone(lab, `update add *.own.lab.test 60 A ${edge}`, `update add *.wild.own.lab.test 60 A ${edge}`)
    const pem = (name: string) => ({ certificate: join(lab.state, `${name}.pem`), key: join(lab.state, `${name}.key`) })
    await makeExpiredCertificate({ ...pem('expired'), names: ['DNS:expired.own.lab.test'] })
    await makeCertificate({ ...pem('other'), names: ['DNS:other.lab.test'] })
    const days = (count: number) => new Date(Date.now() + count * 86_400_000)
    await makeAgedCertificate({ ...pem('aged'), names: ['DNS:aged.own.lab.test'] }, days(-80), days(10))
    odd = await startWebBackend(lab, (_, response) => response.writeHead(500).end())
    const secure = (name: string, host: string) =>
      `server { listen ${edge}:8443; server_name ${host}; return 204;
       ssl_certificate ${pem(name).certificate}; ssl_certificate_key ${pem(name).key}; }`
    mkdirSync(ownFolder())
    writeOwn('changed', `proxy_pass http://${backend}:9;`)
    await addOwnHosts(
      lab,
      () => `  include own/*.conf;
  server { listen ${edge}:8080; server_name well.own.lab.test; location / { proxy_pass http://${backend}:3000; } }
  server { listen ${edge}:8080; server_name foreign.own.lab.test; location / { proxy_pass http://127.0.0.9:9; } }
  server { listen ${edge}:8080; server_name static.own.lab.test; return 404; }
  server { listen ${edge}:8080; server_name php.own.lab.test; location / { fastcgi_pass unix:${lab.state}/php-fpm.sock; } }
  server { listen ${edge}:8080; server_name phptcp.own.lab.test; location / { fastcgi_pass 127.0.0.9:9; } }
  server { listen ${edge}:8080; server_name nameless.own.lab.test;
    resolver 127.0.0.1:${dns.primary.port} ipv6=off; set $up nobody.lab.test; location / { proxy_pass http://$up:3000; } }
  server { listen ${edge}:${away} default_server; server_name first.own.lab.test; return 204; }
  server { listen ${edge}:${away}; server_name *.wild.own.lab.test; return 204; }
  server { listen ${away}; server_name shadowed.own.lab.test tamed.wild.own.lab.test; return 204; }
  ${secure('expired', 'expired.own.lab.test')}
  ${secure('other', 'misnamed.own.lab.test')}
  ${secure('aged', 'aged.own.lab.test')}
  server { listen ${edge}:8443; server_name bare.own.lab.test; return 204; }
  server { listen ${edge}:8080; server_name mute.own.lab.test; return 444; }
  server { listen ${edge}:8080; server_name unnamed.lab.test; return 204; }
  server { listen ${edge}:8080; server_name odd.own.lab.test;
    location / { proxy_set_header X-Forwarded-For $remote_addr; proxy_pass http://${backend}:${odd.port}; } }
`,
    )
    await until('nginx serves the new hosts', async () => (await causeOf('well.own.lab.test')) === 'healthy')
  })

  afterAll(async () => {
    await odd?.[Symbol.asyncDispose]()
  })

  const ownFolder = () => join(dirname(lab.description.edges.primary.config), 'own')
  const writeOwn = (name: string, location: string) =>
    writeFileSync(
      join(ownFolder(), `${name}.conf`),
      `server { listen ${lab.description.edges.primary.address}:8080; server_name ${name}.own.lab.test; location / { ${location} } }\n`,
    )

  async function portWithNeighbours(address: string): Promise<number> {
    const port = await freePort(address)
    const near = [-3, -2, -1, 1, 2, 3].map((step) => isPortFree(address, port + step))
    return (await Promise.all(near)).every(Boolean) ? port : portWithNeighbours(address)
  }

  async function diagnosis(host: string, from: 'internal' | 'public' = 'internal') {
    const answer = await lab.call({ path: `/api/diagnose?host=${host}`, from })
    expect([host, answer.status, answer.text.slice(0, 300)]).toEqual([host, 200, expect.any(String)])
    return answer.body
  }

  const causeOf = async (host: string): Promise<string> => (await diagnosis(host)).cause.code
  const told = async (host: string) => {
    const { cause, badge } = await diagnosis(host)
    return [cause.code, badge]
  }
  const linkOf = (body: { chain: { link: string; ok: boolean | null }[] }, link: string) =>
    body.chain.find((one) => one.link === link)?.ok

  async function reloadEdge(): Promise<void> {
    const master = masterPid(lab.description.edges.primary.pidFile) ?? 0
    const before = servingWorkers(master)
    process.kill(master, 'SIGHUP')
    await until('the workers are new', async () => {
      const now = servingWorkers(master)
      return now.length > 0 && now.every((pid) => !before.includes(pid))
    })
  }

  describe('a host that was made here', () => {
    const host = 'shop.lab.test'

    test('is RUNNING and healthy, with every link looked at', async () => {
      await using _ = await listenWeb(shop, ok)
      await applied(lab, { subdomain: 'shop', port: shop.port, health: '/up' })
      const body = await diagnosis(host)
      expect(body).toMatchObject({
        host,
        badge: 'RUNNING',
        managed: true,
        server: '25',
        configPath: entryFile(lab.description.edges.primary, host),
        configLine: expect.any(Number),
        listen: [{ address: lab.description.edges.primary.address, port: 8080, tls: false, defaultServer: false }],
        proxyPass: `http://${shop.address}:${shop.port}`,
        file: 'unchanged',
        cause: { code: 'healthy' },
      })
      expect(body.chain.map(({ link, ok }: { link: string; ok: boolean | null }) => [link, ok])).toEqual([
        ['dns', true],
        ['edge', true],
        ['tls', null],
        ['server_block', true],
        ['proxy_pass', true],
        ['backend_tcp', true],
        ['backend_health', true],
        ['error_log', null],
      ])
    })

    test('nothing_listening: HTTP 502 when its backend is stopped', async () => {
      const body = await diagnosis(host)
      expect([body.cause.code, body.badge]).toEqual(['nothing_listening', 'HTTP 502'])
      // Its own visit has left the line in nginx's log.
      expect(body.chain.at(-1).detail).toContain('connection_refused')
    })

    test('wrong_port: something answers beside it; which port only callers inside are told', async () => {
      await using _ = await listenWeb({ ...shop, port: shop.port + 1 }, ok)
      const body = await diagnosis(host)
      expect(body.cause).toMatchObject({ code: 'wrong_port', sentence: expect.stringContaining(`${shop.port + 1}`) })
      const outside = await diagnosis(host, 'public')
      expect(outside.cause.code).toBe('wrong_port')
      expect(JSON.stringify(outside)).not.toContain(`${shop.port + 1}`)
    })

    test("what answers beside it is no sign when it is another host's backend", async () => {
      await using _ = await listenWeb({ ...shop, port: shop.port + 2 }, ok)
      const { planId } = await applied(lab, { subdomain: 'neighbour', port: shop.port + 2, health: '/' })
      expect(planId).toBeTruthy()
      expect(await causeOf(host)).toBe('nothing_listening')
    })

    test('backend_503: HTTP 503 by the backend itself', async () => {
      await using _ = await listenWeb(shop, saying(503))
      expect(await told(host)).toEqual(['backend_503', 'HTTP 503'])
    })

    test('backend_error: another bad answer', async () => {
      await using _ = await listenWeb(shop, saying(500))
      expect(await told(host)).toEqual(['backend_error', 'HTTP 500'])
    })

    test('backend_speaks_tls: HTTP 502 because the edge sends plain HTTP', async () => {
      const pair = { cert: readFileSync(join(lab.state, 'other.pem')), key: readFileSync(join(lab.state, 'other.key')) }
      await using _ = await listenSecurely(shop, pair)
      expect(await told(host)).toEqual(['backend_speaks_tls', 'HTTP 502'])
    })

    test('backend_timeout: connections are taken and nothing is said, or are dropped, as a firewall drops them', async () => {
      await using _mute = await listenMutely(shop)
      await using _frozen = await listenFrozen({ ...shop, port: shop.port + 2 })
      const [mute, frozen] = await Promise.all([diagnosis(host), diagnosis('neighbour.lab.test')])
      expect([mute.cause.code, mute.badge]).toEqual(['backend_timeout', 'DOWN'])
      expect([linkOf(mute, 'backend_tcp'), linkOf(mute, 'backend_health')]).toEqual([true, false])
      expect([frozen.cause.code, linkOf(frozen, 'backend_tcp')]).toEqual(['backend_timeout', false])
      expect(frozen.cause.advice).toContain('firewall')
    })

    test('name_points_elsewhere and name_missing: NO DNS', async () => {
      await using _ = await listenWeb(shop, ok)
      const { address } = lab.description.edges.primary
      updateZone(lab, `update delete ${host} A`, `update add ${host} 60 A 192.0.2.77`)
      expect(await told(host)).toEqual(['name_points_elsewhere', 'NO DNS'])
      expect((await diagnosis(host)).cause.sentence).toContain('192.0.2.77')
      expect(JSON.stringify(await diagnosis(host, 'public'))).not.toContain('192.0.2.77')
      updateZone(lab, `update delete ${host} A`)
      expect(await told(host)).toEqual(['name_missing', 'NO DNS'])
      updateZone(lab, `update add ${host} 60 A ${address}`)
      expect(await told(host)).toEqual(['healthy', 'RUNNING'])
    })

    test('is told with the place of its own entry; outside without the line', async () => {
      await using _ = await listenWeb(shop, ok)
      const { primary } = lab.description.edges
      const configPath = entryFile(primary, host)
      const inside = await diagnosis(host)
      const proxyPass = `http://${shop.address}:${shop.port}`
      expect(inside).toMatchObject({
        configPath,
        proxyPass,
        listen: [expect.objectContaining({ address: primary.address, port: primary.http, tls: false })],
      })
      expect(readFileSync(configPath, 'utf8').split('\n')[inside.configLine - 1]).toBe(`${host} ${proxyPass};`)
      expect(await diagnosis(host, 'public')).toMatchObject({ configPath, configLine: null })
      const { body } = await lab.call({ path: `/api/health?host=${host}` })
      expect(body).toMatchObject({ configPath })
      // The next generation has the same files for this host, with a younger ctime.
      const { planId } = await applied(lab, { subdomain: 'beside' })
      expect(await diagnosis(host)).toMatchObject({ configPath, cause: { code: 'healthy' }, badge: 'RUNNING' })
      await removed(lab, planId)
    })

    test('file_edited and file_missing: DRIFT', async () => {
      await using _ = await listenWeb(shop, ok)
      const file = entryFile(lab.description.edges.primary, host)
      const before = readFileSync(file, 'utf8')
      editEntry(file, host)
      expect(await told(host)).toEqual(['file_edited', 'DRIFT'])
      // To another backend, which is away: the edit explains the 502.
      writeFileSync(file, before.replace(`:${shop.port}`, ':9'))
      await reloadEdge()
      expect(await told(host)).toEqual(['file_edited', 'HTTP 502'])
      rmSync(file)
      await reloadEdge()
      // nginx knows the name, and has no backend for it.
      expect(await told(host)).toEqual(['file_missing', 'HTTP 500'])
      const namesFile = file.replace('/backends/', '/names-http/').replace(/map$/, 'conf')
      const names = readFileSync(namesFile, 'utf8')
      rmSync(namesFile)
      await reloadEdge()
      expect(await told(host)).toEqual(['file_missing', 'DOWN'])
      writeFileSync(file, before)
      writeFileSync(namesFile, names)
      // It stands again as applied, and nobody told nginx.
      expect(await told(host)).toEqual(['not_loaded', 'DOWN'])
      await reloadEdge()
      expect(await told(host)).toEqual(['healthy', 'RUNNING'])
    })

    test('with TLS the handshake is looked at; a lost certificate is a lost file', async () => {
      const { host: secure } = await applied(lab, { subdomain: 'secure', tls: true })
      const body = await diagnosis(secure)
      expect([body.cause.code, body.badge, linkOf(body, 'tls')]).toEqual(['healthy', 'RUNNING', true])
      const entry = certificateEntryFile(lab.description.edges.primary, secure)
      const before = readFileSync(entry)
      rmSync(entry)
      await reloadEdge()
      expect(await told(secure)).toEqual(['file_missing', 'CERT'])
      writeFileSync(entry, before)
      await reloadEdge()
      expect(await causeOf(secure)).toBe('healthy')
    })
  })

  describe("a host of the edge's own configuration", () => {
    test.each([
      ['well', 'healthy', 'RUNNING', '25'],
      ['foreign', 'nothing_listening', 'HTTP 502', '127.0.0.9'],
      ['static', 'not_proxied', 'HTTP 404', null],
      ['expired', 'certificate_expired', 'CERT', null],
      ['misnamed', 'certificate_wrong_name', 'CERT', null],
      ['aged', 'certificate_expiring', 'CERT', null],
      ['bare', 'tls_failed', 'CERT', null],
      ['mute', 'not_proxied', 'DOWN', null],
      ['odd', 'unknown', 'HTTP 500', '25'],
      ['shadowed', 'other_server_answers', 'RUNNING', null],
      ['tamed.wild', 'other_server_answers', 'RUNNING', null],
      ['nameless', 'upstream_name_unresolved', 'HTTP 502', 'nobody.lab.test'],
    ])('%s.own.lab.test: %s, %s', async (name, code, badge, server) => {
      const body = await diagnosis(`${name}.own.lab.test`)
      expect([body.cause.code, body.badge, body.server, body.managed, body.file]).toEqual([
        code,
        badge,
        server,
        false,
        'not_ours',
      ])
      expect(body.configPath).toBe(lab.description.edges.primary.config)
      expect(readFileSync(body.configPath, 'utf8').split('\n')[body.configLine - 1]).toContain('server {')
    })

    test('to the public an address outside the registry is nowhere', async () => {
      const body = await diagnosis('foreign.own.lab.test', 'public')
      expect([body.cause.code, body.server, body.proxyPass]).toEqual(['nothing_listening', null, null])
      expect(JSON.stringify(body)).not.toContain('127.0.0.9')
      expect((await diagnosis('foreign.own.lab.test')).proxyPass).toBe('http://127.0.0.9:9')
    })

    test('not_loaded: the file was corrected, and nginx was not told', async () => {
      expect(await told('changed.own.lab.test')).toEqual(['nothing_listening', 'HTTP 502'])
      const backend = lab.description.backends[0]
      writeOwn('changed', `proxy_pass http://${backend?.address}:${backend?.port};`)
      expect(await told('changed.own.lab.test')).toEqual(['not_loaded', 'HTTP 502'])
      await reloadEdge()
      expect(await told('changed.own.lab.test')).toEqual(['healthy', 'RUNNING'])
      // What changes in the very moment in which workers come cannot be told from what they have read.
      await takes(300)
      appendFileSync(join(ownFolder(), 'changed.conf'), '# once more\n')
      expect(await told('changed.own.lab.test')).toEqual(['not_loaded', 'RUNNING'])
    })

    test('not_loaded: a new host, and nginx was not told; edge_config_broken: it was, and refused', async () => {
      writeOwn('new', 'return 204;')
      expect(await told('new.own.lab.test')).toEqual(['not_loaded', 'DOWN'])
      const broken = join(ownFolder(), 'zz-broken.conf')
      writeFileSync(broken, 'no_such_directive_xyzzy on;\n')
      const { errorLog, pidFile } = lab.description.edges.primary
      process.kill(masterPid(pidFile) ?? 0, 'SIGHUP')
      await until('nginx refuses it', () => readFileSync(errorLog, 'utf8').includes('no_such_directive_xyzzy'))
      const body = await diagnosis('new.own.lab.test')
      expect(body.cause).toMatchObject({ code: 'edge_config_broken', sentence: expect.stringContaining(broken) })
      expect(await told('well.own.lab.test')).toEqual(['edge_config_broken', 'RUNNING'])
      expect(JSON.stringify([body, await diagnosis('new.own.lab.test', 'public')])).not.toContain('xyzzy')
      rmSync(broken)
      expect(await causeOf('new.own.lab.test')).toBe('not_loaded')
      await reloadEdge()
      expect(await told('new.own.lab.test')).toEqual(['healthy', 'RUNNING'])
      expect(await told('well.own.lab.test')).toEqual(['healthy', 'RUNNING'])
    })
  })

  describe('asking', () => {
    test.each([
      ['', 400, 'invalid_request'],
      ['?host=', 400, 'invalid_request'],
      ['?host=a..b', 400, 'invalid_request'],
      ['?host=a%0Ab.test', 400, 'invalid_request'],
      ['?host=nobody.lab.test', 404, 'host_not_found'],
      ['?host=any.wild.own.lab.test', 404, 'host_not_found'],
    ])('%s is told %i %s', async (query, status, code) => {
      const answer = await lab.call({ path: `/api/diagnose${query}` })
      expect([answer.status, answer.body.code]).toEqual([status, code])
    })

    test('in another spelling means the same host', async () => {
      expect((await diagnosis('WELL.Own.LAB.test.')).host).toBe('well.own.lab.test')
    })

    test('changes nothing: no file, no time of a file, no worker, no record', async () => {
      const { primary } = lab.description.edges
      const state = async () => [
        await world(lab),
        listing(ownFolder()),
        times(primary.prefix),
        servingWorkers(masterPid(primary.pidFile) ?? 0),
      ]
      // It tells the edges which runs of earlier tests have ended.
      await housekeeping(lab, 'converge')
      const before = await state()
      for (const host of ['shop.lab.test', 'secure.lab.test', 'nameless.own.lab.test', 'expired.own.lab.test']) {
        await Promise.all([diagnosis(host), diagnosis(host, 'public')])
      }
      expect(await state()).toEqual(before)
    })

    test.runIf(process.env.CAMPAIGN)('is answered although name server, edge and backend hang', async () => {
      await using _ = await listenFrozen(shop)
      const { pids, edges } = lab.description
      const workers = servingWorkers(pids.edgePrimary ?? 0)
      const stopped = [pids.dnsPrimary, pids.edgePrimary, ...workers].filter((pid) => pid !== undefined)
      for (const pid of stopped) process.kill(pid, 'SIGSTOP')
      try {
        const answers = await Promise.all(Array.from({ length: 8 }, () => diagnosis('shop.lab.test')))
        expect(answers[0].cause.code).toBe('backend_timeout')
        expect(answers[0].chain.find(({ link }: { link: string }) => link === 'dns').ok).toBe(null)
        // Who asks at the same time shares one look.
        expect(new Set(answers.map(({ checkedAt }) => checkedAt)).size).toBe(1)
        expect(edges.primary.server).toBe('23')
      } finally {
        for (const pid of stopped) process.kill(pid, 'SIGCONT')
      }
    })
  })

  describe('the list and the diagnosis show the same badge', () => {
    const listed = async (host: string) => (await lab.call({ path: `/api/health?host=${host}` })).body
    const both = async (host: string) => [(await listed(host)).badge, (await diagnosis(host)).badge]
    const agree = (host: string, badge: string) =>
      until(`both show ${badge} for ${host}`, async () => (await both(host)).every((one) => one === badge))

    test.runIf(process.env.CAMPAIGN).each([
      [2_700, 'RUNNING', 'healthy'],
      [4_000, 'DOWN', 'backend_timeout'],
    ])('of a backend that answers after %i ms: %s', async (delayMs, badge, code) => {
      let delay = 0
      const port = await freePort(shop.address)
      await using _ = await listenWeb({ ...shop, port }, async (_, response) => {
        await takes(delay)
        response.end()
      })
      const { host } = await applied(lab, { subdomain: `slow-${delayMs}`, port })
      await agree(host, 'RUNNING')
      delay = delayMs
      const slowed = Date.now()
      await until('a check has met the slow backend', async () => {
        const { at, latencyMs } = (await listed(host)).lastCheck
        return Date.parse(at) > slowed && (latencyMs === null || latencyMs > 1_000)
      })
      await agree(host, badge)
      await until(`the cause is ${code}`, async () => (await causeOf(host)) === code)
    })

    test('of a host that was not made here and has no name in DNS', async () => {
      await agree('unnamed.lab.test', 'RUNNING')
      // Told all the same: whoever asks why nobody comes is told why.
      expect(await causeOf('unnamed.lab.test')).toBe('name_missing')
    })

    test.runIf(process.env.CAMPAIGN)(
      'of a host whose owner mark is gone, and of one that a wildcard stands in for',
      async () => {
        const { host: unmarked } = await applied(lab, { subdomain: 'unmarked' })
        const { host: wild } = await applied(lab, { subdomain: 'wild' })
        updateZone(lab, `update delete _drawbridge.${unmarked} TXT`)
        expect(await told(unmarked)).toEqual(['records_changed', 'NO DNS'])
        const { address } = lab.description.edges.primary
        updateZone(
          lab,
          `update delete ${wild} A`,
          `update delete _drawbridge.${wild} TXT`,
          `update add *.lab.test 60 A ${address}`,
        )
        expect(await told(wild)).toEqual(['records_changed', 'NO DNS'])
        updateZone(lab, 'update delete *.lab.test A')
        await Promise.all([agree(unmarked, 'NO DNS'), agree(wild, 'NO DNS')])
      },
    )

    test.runIf(process.env.CAMPAIGN)('of a host that was NO DNS when the DNS server began to hang', async () => {
      const { host } = await applied(lab, { subdomain: 'hanging' })
      updateZone(lab, `update delete ${host} A`)
      await agree(host, 'NO DNS')
      const named = lab.description.pids.dnsPrimary ?? 0
      process.kill(named, 'SIGSTOP')
      try {
        const stopped = Date.now()
        // The second check after that began and ended without a DNS server.
        let ended = new Set<number>()
        await until('two more checks have ended', async () => {
          const at = Date.parse((await listed(host)).lastCheck.at)
          if (at > stopped) ended = ended.add(at)
          return ended.size >= 2
        })
        expect(await both(host)).toEqual(['NO DNS', 'NO DNS'])
        expect(await causeOf(host)).toBe('dns_unknown')
      } finally {
        process.kill(named, 'SIGCONT')
      }
    })
  })

  test.each([
    ['php.own.lab.test', /^fastcgi:\/\/unix:.*\/php-fpm\.sock$/, 'such as php-fpm'],
    ['phptcp.own.lab.test', /^fastcgi:\/\/127\.0\.0\.9:9$/, 'Start the service'],
  ])('%s: a FastCGI backend that is down is named, and to be started', async (host, backend, advice) => {
    const { body } = await lab.call({ path: `/api/diagnose?host=${host}` })
    expect(body).toMatchObject({ badge: 'HTTP 502', cause: { code: 'nothing_listening' } })
    expect(body.proxyPass).toMatch(backend)
    expect(body.cause.advice).toContain(advice)
    expect(JSON.stringify(body)).toContain('(fastcgi)')
  })

  describe('in the end', () => {
    test('dns_unknown: the name server is gone', async () => {
      await using _ = await listenWeb(shop, ok)
      process.kill(lab.description.pids.dnsPrimary ?? 0, 'SIGKILL')
      await until('it is gone', () => lab.description.pids.dnsPrimary === undefined)
      expect(await told('shop.lab.test')).toEqual(['dns_unknown', 'RUNNING'])
      expect(JSON.stringify(await diagnosis('shop.lab.test', 'public'))).not.toContain('127.0.0.1')
    })

    test('edge_down, and edge_config_broken when it cannot start again', async () => {
      const { config, prefix, errorLog } = lab.description.edges.primary
      process.kill(lab.description.pids.edgePrimary ?? 0, 'SIGTERM')
      await until('nginx is gone', () => lab.description.pids.edgePrimary === undefined)
      expect(await told('shop.lab.test')).toEqual(['edge_down', 'DOWN'])
      writeFileSync(join(ownFolder(), 'zz-broken.conf'), 'no_such_directive_xyzzy on;\n')
      const args = ['-e', errorLog, '-p', prefix, '-c', config]
      await expect(promisify(execFile)(findProgram('nginx', 'nginx'), args)).rejects.toThrow()
      expect(await told('shop.lab.test')).toEqual(['edge_config_broken', 'DOWN'])
    })
  })
}

/** When everything but logs and nginx's own scratch folders was last written or moved. */
const times = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !/^(?:logs|temp)(?:\/|$)/.test(path))
    .map((path) => {
      const { mtimeMs, ctimeMs } = lstatSync(join(folder, path))
      return `${path} ${mtimeMs} ${ctimeMs}`
    })
