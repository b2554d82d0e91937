import { existsSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EdgeSettings } from '../../../src/estate/settings.ts'
import type { EntryOptions } from '../../../src/model/exposure.ts'
import { localEdge } from '../../../src/nginx/local-edge.ts'
import { rehearsePrepare } from '../../../src/nginx/process/rehearse.ts'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import { certificateFor, changeHost, PLAN_ID, placeSite, type TestPair } from '../../support/edge/edge.ts'
import { listing } from '../../support/edge/edge-folder.ts'
import {
  askPlainly,
  askSecurely,
  debianMain,
  debianSite,
  INCLUDE,
  type OwnNginx,
  type Ports,
  type Sites,
  startOwnNginx,
} from '../../support/edge/own-nginx.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

/** Drawbridge beside the sites that a server has already: nobody loses a default server, TLS settings or an answer. */
let own: OwnNginx | undefined
let backend: Backend
beforeEach(async () => {
  backend = await startBackend((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nbackend'))
})
afterEach(async () => {
  await own?.stop()
  own = undefined
  await backend[Symbol.asyncDispose]()
})

const certificate = ({ prefix }: Ports) => `ssl_certificate ${prefix}/own.crt; ssl_certificate_key ${prefix}/own.key;`

const secureSite = (at: Ports, listen: string, name: string, more = '') =>
  `server { listen ${listen}; server_name ${name}; ${certificate(at)} ${more} return 200 "${name}\\n"; }\n`

const STYLES: readonly (readonly [string, Sites])[] = [
  ['the nginx that Debian installs', (at) => ({ 'sites-enabled/default': debianSite(at) })],
  [
    'sites on all addresses with default servers',
    (at) => ({
      'sites-enabled/default': debianSite(at),
      'sites-enabled/first': secureSite(at, `${at.https} ssl`, 'first.test'),
      'sites-enabled/other': secureSite(at, `*:${at.https} ssl default_server`, 'other.test'),
    }),
  ],
  [
    'HTTP/2 on all addresses in conf.d, and no server that is the default by its words',
    (at) => ({
      'conf.d/sites.conf': `${secureSite(at, `${at.https} ssl http2`, 'first.test')}${secureSite(at, `${at.https} ssl http2`, 'other.test')}
        server { listen ${at.http}; server_name first.test other.test; return 301 https://$host$request_uri; }`,
    }),
  ],
  [
    'sites on single addresses',
    (at) => ({
      'conf.d/a.conf': secureSite(at, `${at.address}:${at.https} ssl`, 'first.test'),
      'conf.d/b.conf': `server { listen ${at.address}:${at.http} default_server; server_name other.test; return 410; }`,
      'conf.d/c.conf': secureSite(at, `127.0.0.1:${at.https} ssl default_server`, 'status.test'),
    }),
  ],
  [
    'a default server that refuses unknown names',
    (at) => ({
      'conf.d/a.conf': `server { listen ${at.https} ssl default_server; ssl_reject_handshake on; }
        server { listen ${at.http} default_server; return 444; }`,
      'conf.d/b.conf': secureSite(at, `${at.https} ssl`, 'first.test', 'ssl_protocols TLSv1.2;'),
    }),
  ],
  [
    'one socket for IPv4 and IPv6',
    (at) => ({
      'conf.d/a.conf': `server { listen [::]:${at.http} ipv6only=off; server_name first.test; return 200 first; }`,
    }),
  ],
]

test.each(STYLES)('serves beside %s, and every site answers as before', async (_, sites) => {
  own = await startOwnNginx(sites)
  const at = own
  const files = () => listing(at.prefix).filter((line) => !/^(drawbridge|error|output|nginx\.pid|temp-)/.test(line))
  const [before, answersBefore] = [files(), await answers(at)]
  const edge = localEdge(at)
  await rehearsePrepare(at)
  expect(existsSync(at.folder)).toBe(false)
  await edge.prepare()
  expect(await answers(at)).toEqual(withoutNobody(answersBefore))

  using folder = tempFolder()
  const pair = await certificateFor(folder.path, ['secure.lab.test'])
  const ownPair = await certificateFor(folder.path, ['own.lab.test'])
  await place(at, 'plain.lab.test')
  await place(at, 'secure.lab.test', pair)
  expect(await edge.ask({ host: 'plain.lab.test', path: '/', tls: false })).toMatchObject({ httpStatus: 200 })
  for (const protocol of ['TLSv1.2', 'TLSv1.3'] as const) {
    const served = await askSecurely({ address: at.address, port: at.ports.https }, 'secure.lab.test', protocol)
    expect(served).toContain(pair.fingerprint.slice(0, 17))
  }
  expect(await edge.ask({ host: 'secure.lab.test', path: '/', tls: true })).toMatchObject({
    httpStatus: 200,
    certificate: { fingerprint: pair.fingerprint },
  })
  expect(await askPlainly({ address: at.address, port: at.ports.http }, 'secure.lab.test')).toMatch(/^308 https:/)
  expect(await answers(at)).toEqual(withoutNobody(answersBefore))

  // With options a host has server blocks of its own.
  await place(at, 'own.lab.test', ownPair, { maxBody: '1m' })
  expect(await edge.ask({ host: 'own.lab.test', path: '/', tls: true })).toMatchObject({
    httpStatus: 200,
    certificate: { fingerprint: ownPair.fingerprint },
  })
  expect(await answers(at)).toEqual(withoutNobody(answersBefore))

  const hosts = ['plain.lab.test', 'secure.lab.test', 'own.lab.test']
  await Promise.all(hosts.map((host) => changeHost(edge, host, 'absent')))
  expect(await answers(at)).toEqual(withoutNobody(answersBefore))
  expect(files()).toEqual(before)
})

const place = (at: EdgeSettings, host: string, certificate?: TestPair, options?: EntryOptions) => {
  const target = `http://${backend.address}:${backend.port}`
  const more = { ...(certificate && { certificate }), ...(options && { options }) }
  return placeSite(localEdge(at), { host, planId: PLAN_ID, target, ...more })
}

/** What visitors of every name get, unknown ones and none included. */
async function answers({ address, ports }: EdgeSettings): Promise<Record<string, string>> {
  const names = ['first.test', 'other.test', 'status.test', 'unknown.test']
  const asked = [address, '127.0.0.1', '::1'].flatMap((at) => [
    ...names.flatMap((name) => [
      [`http ${at} ${name}`, askPlainly({ address: at, port: ports.http }, name)] as const,
      ...(['TLSv1.2', 'TLSv1.3'] as const).map(
        (protocol) =>
          [`${protocol} ${at} ${name}`, askSecurely({ address: at, port: ports.https }, name, protocol)] as const,
      ),
    ]),
    [`TLS ${at} without a name`, askSecurely({ address: at, port: ports.https }, undefined)] as const,
  ])
  return Object.fromEntries(await Promise.all(asked.map(async ([what, answer]) => [what, await answer])))
}

/** Where nobody listened, Drawbridge is the first: it refuses every name that it does not serve. */
const REFUSED = /^(?:ECONNREFUSED|ERR_SSL_TLSV1_UNRECOGNIZED_NAME|404 {2}No such host on this edge\.)$/
const withoutNobody = (before: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(before).map(([what, answer]) => [
      what,
      answer === 'ECONNREFUSED' ? expect.stringMatching(REFUSED) : answer,
    ]),
  )

const REFUSALS: readonly (readonly [string, Sites, Partial<EdgeSettings>, RegExp])[] = [
  [
    'an include before the first server',
    (at) => ({
      'nginx.conf': debianMain(at.prefix, '').replace('http {', `http {\n\t${INCLUDE}`),
      'conf.d/a.conf': `server { listen ${at.http}; server_name first.test; return 200; }`,
    }),
    {},
    /a\.conf, line 1\) is the default server only because nginx reads it first, .* Move the include of Drawbridge to the end/,
  ],
  [
    'the PROXY protocol',
    (at) => ({ 'conf.d/a.conf': `server { listen ${at.http} proxy_protocol; return 200; }` }),
    {},
    /expects the PROXY protocol on \*:\d+ \(\S+a\.conf, line 1\)/,
  ],
  [
    'plain HTTP at the port for HTTPS',
    (at) => ({ 'conf.d/a.conf': `server { listen ${at.https}; return 200; }` }),
    {},
    /serves HTTP without TLS on \*:\d+ \(\S+a\.conf, line 1\), where Drawbridge needs TLS/,
  ],
  [
    'TLS at the port for HTTP',
    (at) => ({ 'conf.d/a.conf': secureSite(at, `${at.http} ssl`, 'first.test') }),
    {},
    /serves TLS on \*:\d+ \(\S+a\.conf, line 1\), where Drawbridge needs HTTP without TLS/,
  ],
  [
    'all addresses beside a single one',
    (at) => ({ 'conf.d/a.conf': `server { listen 127.0.0.1:${at.http}; return 200; }` }),
    { listen: ['0.0.0.0'] },
    /listens on 127\.0\.0\.1:\d+ \(\S+a\.conf, line 1\), so it cannot listen on all addresses/,
  ],
]

test.each(REFUSALS)('refuses %s before anything is written', async (_, sites, setting, reason) => {
  own = await startOwnNginx(sites)
  const at = { ...own, ...setting }
  const before = listing(at.prefix)
  for (const tried of [rehearsePrepare(at), localEdge(at).prepare()])
    await expect(tried).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringMatching(reason) })
  expect(listing(at.prefix)).toEqual(before)
})

test('moves with the sites: where the last of them goes, unknown names are refused, and hosts stay', async () => {
  own = await startOwnNginx((at) => ({
    'conf.d/a.conf': secureSite(at, `${at.https} ssl default_server`, 'first.test'),
  }))
  const at = own
  const edge = localEdge(at)
  await edge.prepare()
  expect(readFileSync(`${at.folder}/drawbridge.conf`, 'utf8')).toContain(`listen 0.0.0.0:${at.ports.https} ssl;`)
  await place(at, 'plain.lab.test')
  at.write('conf.d/a.conf', '')
  process.kill(at.daemon.pid, 'SIGHUP')
  await edge.prepare()
  const secure = { address: at.address, port: at.ports.https }
  await until(
    'unknown names are refused',
    async () => (await askSecurely(secure, 'unknown.test')) === 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
  )
  await place(at, 'other.lab.test')
  for (const host of ['plain.lab.test', 'other.lab.test'])
    expect(await edge.ask({ host, path: '/', tls: false })).toMatchObject({ httpStatus: 200 })
})
