import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request as requestPlainly, type Server } from 'node:http'
import { request as requestSecurely, Agent as SecureAgent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Daemon, startDaemon } from '../../../../lab/daemon.ts'
import { freePort } from '../../../../lab/free-port.ts'
import { findProgram } from '../../../../lab/program.ts'
import { sitesOfFolder } from '../../../../src/estate/adopt/sites.ts'
import type { Adoption, SiteFinding } from '../../../../src/model/options/adoption.ts'
import { judgeSites } from '../../../../src/nginx/adopt/rehearsed.ts'
import { UPGRADE_MAPS } from '../../../../src/nginx/config/render-base.ts'
import { renderBlock } from '../../../../src/nginx/config/render-site.ts'
import { systemClock } from '../../../../src/primitives/clock.ts'
import { makeCertificate } from '../../../support/edge/openssl.ts'
import { FORTY_SITES, type SitePlaces } from '../../../support/edge/sites/forty-sites.ts'
import { randomNetwork } from '../../../support/network.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { until } from '../../../support/until.ts'

/**
 * What import says of forty sites, compared with what a real nginx answers: each site at one address, the entry that would replace it at
 * another. The questions and the backend are those of this file, not those of the rehearsal.
 */
const folder = tempFolder()
const network = randomNetwork()
const [OLD, NEW] = [`${network}.23`, `${network}.24`]
const hostOf = (index: number) => `site${index}.example.test`

const AGENTS = { http: new Agent({ keepAlive: true }), https: new SecureAgent({ keepAlive: true }) }

let backend: Server
let nginx: Daemon
let ports: { http: number; https: number }
let places: SitePlaces
let adoptions: ReadonlyMap<string, Adoption>
const texts: string[] = []

beforeAll(async () => {
  const at = (name: string) => join(folder.path, name)
  backend = createServer((request, response) =>
    echo(request, (status, headers, body) => response.writeHead(status, headers).end(body)),
  )
  backend.on('upgrade', (_request, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
  )
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const behind = `127.0.0.1:${(backend.address() as AddressInfo).port}`
  ports = { http: await freePort('0.0.0.0'), https: await freePort('0.0.0.0') }
  await makeCertificate({ certificate: at('own.crt'), key: at('own.key'), names: ['DNS:*.example.test'] })
  const pair = `ssl_certificate ${at('own.crt')}; ssl_certificate_key ${at('own.key')};`
  places = { http: `${OLD}:${ports.http}`, https: `${OLD}:${ports.https}`, backend: behind, pair }
  mkdirSync(at('sites'))
  for (const [index, { text }] of FORTY_SITES.entries()) {
    texts.push(text(places, hostOf(index)).replaceAll('@BACKEND@', behind))
    writeFileSync(at(`sites/${String(index).padStart(2, '0')}`), texts[index] ?? '')
  }
  const binary = findProgram('nginx', 'nginx')
  const world = { ports, listen: [OLD], serverAt: () => '25' }
  const judged = await judgeSites(sitesOfFolder(at('sites')), world, { binary, clock: systemClock })
  adoptions = new Map(judged.map((adoption) => [adoption.host, adoption]))
  const entries = judged
    .filter(({ refused }) => refused.length === 0)
    .map(({ host, tls, options }) =>
      renderBlock(
        {
          ...{ host, plan: 'plan', target: `http://${behind}`, furtherTargets: undefined, tls, options },
          identity: { question: '1', answer: '2' },
        },
        { listen: [NEW], ports },
      ).replaceAll(`listen ${NEW}:${ports.https};`, `listen ${NEW}:${ports.https} ssl; ${pair}`),
    )
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${at(kind)};`)
  writeFileSync(
    at('nginx.conf'),
    `daemon off; master_process off; pid ${at('nginx.pid')}; error_log ${at('error.log')} crit; events {}
http { access_log off; ${temp.join(' ')} server_names_hash_bucket_size 128; ${UPGRADE_MAPS}
include ${at('sites')}/*;
${entries.join('\n')} }\n`,
  )
  nginx = await startDaemon({
    ...{
      name: 'nginx with forty sites',
      program: binary,
      args: ['-e', at('start.log'), '-p', folder.path, '-c', at('nginx.conf')],
    },
    ...{ logFile: at('output.log'), isReady: async () => (await ask(OLD, false, hostOf(0), { path: '/' })).status > 0 },
  })
  await until('the first site answers', async () => (await ask(OLD, false, hostOf(0), { path: '/' })).status === 200)
})

afterAll(async () => {
  for (const agent of Object.values(AGENTS)) agent.destroy()
  await nginx?.stop()
  backend?.close()
  backend?.closeAllConnections()
  folder[Symbol.dispose]()
})

/** Tells the visitor what it gets. */
function echo(
  request: IncomingMessage,
  answer: (status: number, headers: Record<string, string>, body: string) => void,
): void {
  const { method, url, httpVersion, headers } = request
  const { 'x-want': want = '' } = headers
  request.resume()
  const seen = JSON.stringify({ method, url, httpVersion, headers: { ...headers, host: headers.host } })
  const kinds: Record<string, [number, Record<string, string>]> = {
    redirect: [302, { location: `http://${headers.host}/there` }],
    own: [302, { location: `http://${places.backend}/there` }],
    missing: [404, {}],
    policies: [
      200,
      { 'x-frame-options': 'DENY', 'x-powered-by': 'tests', 'strict-transport-security': 'max-age=1', 'x-own': '2' },
    ],
  }
  const [status, more] = kinds[String(want)] ?? [200, {}]
  answer(status, { 'content-type': 'text/html', ...more }, `${seen}${' '.repeat(400)}`)
}

interface Asked {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly length?: number
}

interface Seen {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly backend: { url: string; method: string; httpVersion: string; headers: Record<string, string> } | undefined
}

function ask(
  address: string,
  isSecure: boolean,
  host: string,
  { path, method = 'GET', headers = {}, length }: Asked,
): Promise<Seen> {
  const { promise, resolve } = Promise.withResolvers<Seen>()
  const sized = length === undefined ? {} : { 'content-length': String(length), expect: '100-continue' }
  const options = {
    host: address,
    path,
    method,
    agent:
      length === undefined && headers.upgrade === undefined ? AGENTS[isSecure ? 'https' : 'http'] : (false as const),
    headers: { host, ...headers, ...sized },
    servername: host,
    rejectUnauthorized: false,
  }
  const asking = isSecure
    ? requestSecurely({ ...options, port: ports.https })
    : requestPlainly({ ...options, port: ports.http })
  const end = (status: number, seen: Seen['headers'] = {}, text = '') => {
    const backendSaw = text.startsWith('{"method"') ? (JSON.parse(text) as Seen['backend']) : undefined
    resolve({ status, headers: seen, backend: backendSaw })
    if (status === 0 || status === 100 || length !== undefined) asking.destroy()
  }
  asking.on('error', () => end(0))
  asking.on('continue', () => end(100))
  asking.on('upgrade', (_response, socket) => {
    socket.destroy()
    end(101)
  })
  asking.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    response.on('end', () => end(response.statusCode ?? 0, response.headers, text))
  })
  if (length === undefined) asking.end()
  else asking.flushHeaders()
  return promise
}

const QUESTIONS: readonly Asked[] = [
  { path: '/index.html?q=1' },
  { path: '/%7Euser/a%2Fb/../c//d?e=%2F' },
  {
    path: '/',
    headers: { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9', 'x-forwarded-proto': 'gopher' },
  },
  {
    path: '/',
    headers: {
      'cf-connecting-ip': '203.0.113.9',
      'x-forwarded-host': 'h',
      'x-forwarded-port': '7',
      forwarded: 'for=x',
    },
  },
  { path: '/', headers: { 'accept-encoding': 'gzip', authorization: 'Bearer x', cookie: 'c=1' } },
  { path: '/', headers: { connection: 'Upgrade', upgrade: 'websocket' } },
  { path: '/', headers: { 'x-want': 'redirect' } },
  { path: '/', headers: { 'x-want': 'own' } },
  { path: '/', headers: { 'x-want': 'missing' } },
  { path: '/', headers: { 'x-want': 'policies' } },
  { path: '/api/x' },
  { path: '/up', method: 'PUT', length: 2_000_000 },
  { path: '/', method: 'PUT', length: 3_000_000 },
  { path: '/', method: 'PUT', length: 90_000_000 },
]

const ANSWERED = [
  'location',
  'x-frame-options',
  'x-powered-by',
  'strict-transport-security',
  'x-own',
  'content-encoding',
  'content-type',
]

/** How two answers differ, one word each. */
function differences(before: Seen, after: Seen): string[] {
  if ([before.status, after.status].some((status) => status === 100 || status === 413))
    return before.status === after.status ? [] : ['size']
  const isRedirect = !before.backend && [301, 302, 307, 308].includes(before.status)
  const found =
    before.status === after.status
      ? []
      : [isRedirect ? 'redirect' : after.status === 101 || before.status === 101 ? 'websocket' : 'status']
  for (const name of ANSWERED) {
    const ignored = isRedirect && name === 'content-type'
    if (!ignored && before.status !== 101 && before.headers[name] !== after.headers[name]) found.push(`answer ${name}`)
  }
  if (!before.backend || !after.backend) return found
  if (before.backend.url !== after.backend.url) found.push('path')
  if (before.backend.method !== after.backend.method) found.push('method')
  if (before.backend.httpVersion !== after.backend.httpVersion) found.push('version')
  const names = new Set([...Object.keys(before.backend.headers), ...Object.keys(after.backend.headers)])
  for (const name of names)
    if (before.backend.headers[name] !== after.backend.headers[name]) found.push(`request ${name}`)
  return found
}

/** The words with which a report names a difference. */
const WORDS: readonly (readonly [RegExp, RegExp])[] = [
  [/^path$/, /paths as visitors send them/],
  [/^version$|^request connection$/, /HTTP\/1\.1|WebSockets only/],
  [/^request upgrade$/, /WebSockets only/],
  [/^redirect$/, /status 308/],
  [
    /^answer location$/,
    /Redirects of the backend|path as the visitor sends|not its own address as Host|without a port/,
  ],
  [/^answer (x-frame-options|strict-transport-security)$/, /in place of one of the backend|with errors, too/],
  [/^answer (x-own|x-powered-by)$/, /passed on as the backend sends/],
  [/^answer content-encoding$/, /compressed/],
  [/^request host$/, /as Host|without a port/],
  [/^size$/, /that of the whole host|over the limit of the http block/],
]

function isNamed(difference: string, findings: readonly SiteFinding[], text: string): boolean {
  if (WORDS.some(([what, words]) => what.test(difference) && findings.some(({ sentence }) => words.test(sentence))))
    return true
  const [kind, header = ''] = difference.split(' ')
  if (kind !== 'request') return false
  const lines = text.split('\n')
  return findings.some(({ sentence, directive, line }) =>
    sentence.includes('from Drawbridge, and not from the visitor')
      ? sentence.toLowerCase().includes(header)
      : directive === 'proxy_set_header' && lines[line - 1]?.toLowerCase().includes(header),
  )
}

/** What a sentence says must be seen, too. */
const SEEN: readonly (readonly [RegExp, RegExp])[] = [
  [/paths as visitors send them/, /^path$/],
  [/status 308/, /^redirect$/],
  [/address of the visitor alone/, /^request x-forwarded-for$/],
  [/not its own address as Host/, /^request host$/],
  [/WebSockets only/, /^request (connection|upgrade)$/],
  [/asked by HTTP\/1\.1/, /^version$|^request connection$/],
  [/from Drawbridge, and not from the visitor/, /^request (x-forwarded|x-real-ip|forwarded)/],
  [/Redirects of the backend to its own address/, /^answer location$/],
  [/protocol of the connection/, /^request x-forwarded-proto$/],
  [/in place of one of the backend/, /^answer /],
  [/over the limit of the http block|that of the whole host/, /^size$/],
]

describe('forty single sites', () => {
  test('are as many as they say, with as many names', () => {
    expect(new Set(FORTY_SITES.map(({ name }) => name)).size).toBe(40)
  })

  test.each(FORTY_SITES.map((site, index) => ({ ...site, index })))(
    '$name: what import says is what nginx answers',
    async ({ says, index }) => {
      const host = hostOf(index)
      const { refused, changed, lost } = adoptions.get(host) ?? { refused: [], changed: [], lost: [] }
      if (says === 'no') {
        expect(refused).not.toEqual([])
        return
      }
      expect(refused).toEqual([])
      const findings = [...changed, ...lost]
      for (const words of says) expect(findings.map(({ sentence }) => sentence).join('\n')).toMatch(words)
      const text = texts[index] ?? ''
      const schemes = [
        ...(text.includes(`listen ${places.http}`) ? [false] : []),
        ...(text.includes(`listen ${places.https}`) ? [true] : []),
      ]
      const seen = new Set<string>()
      for (const isSecure of schemes)
        for (const question of QUESTIONS) {
          const [before, after] = await Promise.all([OLD, NEW].map((address) => ask(address, isSecure, host, question)))
          if (before && after) for (const difference of differences(before, after)) seen.add(difference)
        }
      expect([...seen].filter((difference) => !isNamed(difference, findings, text))).toEqual([])
      const unseen = findings.filter(({ sentence }) =>
        SEEN.some(([words, what]) => words.test(sentence) && ![...seen].some((difference) => what.test(difference))),
      )
      expect(unseen).toEqual([])
    },
  )
})
