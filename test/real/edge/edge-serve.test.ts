import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import { get as getSecurely } from 'node:https'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLAN_ID, startTestEdge, type TestEdge } from '../../support/edge/edge.ts'
import { type Answer, call } from '../../support/http/call.ts'

const run = promisify(execFile)

let at: TestEdge
let backend: Server
let target: string
beforeAll(async () => {
  at = await startTestEdge()
  backend = startEcho()
  await once(backend, 'listening')
  target = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
})
afterAll(async () => {
  backend?.close()
  backend?.closeAllConnections()
  await at?.stop()
})

const site = (host: string, more: object = {}) => ({ host, planId: PLAN_ID, target, ...more })
const answering = (host: string, token: string, answer: string): Promise<void> =>
  at.edge.challenge({ host, fence: { host, epoch: 0, number: 0 }, token, answer })
const visit = (host: string, headers: Record<string, string> = {}, path = '/'): Promise<Answer> =>
  call(at.http, { path, from: '127.0.0.1', headers: { host, ...headers } })

/** Tells as JSON what reached it; echoes WebSocket bytes; on `/stream` sends a piece and then waits. */
function startEcho(): Server {
  const server = createServer((incoming, response) => {
    if (incoming.url === '/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ path: incoming.url, headers: incoming.headers, version: incoming.httpVersion }))
  })
  server.on('upgrade', (incoming, socket) => {
    const accept = createHash('sha1')
      .update(`${incoming.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    socket.pipe(socket)
  })
  return server.listen(0, '127.0.0.1')
}

describe('over http', () => {
  test('a host is proxied, and its removal ends it', async () => {
    await at.place(site('plain.lab.test'))
    expect(await visit('plain.lab.test', {}, '/a?b=c')).toMatchObject({
      status: 200,
      body: { path: '/a?b=c', version: '1.1' },
    })
    expect(await at.edge.ask({ host: 'plain.lab.test', path: '/', tls: false })).toMatchObject({
      kind: 'answer',
      httpStatus: 200,
    })
    expect(at.keysOf('backends')).toEqual(['plain.lab.test'])
    await at.remove('plain.lab.test')
    expect(await visit('plain.lab.test')).toMatchObject({ status: 404 })
    expect(at.keysOf('backends')).toEqual([])
    expect(at.leftOvers()).toEqual([])
  })

  test('what a visitor claims about addresses is replaced', async () => {
    await at.place(site('honest.lab.test'))
    const lies = {
      'x-forwarded-for': '192.168.45.9',
      'x-real-ip': '192.168.45.9',
      forwarded: 'for=192.168.45.9',
      proxy: 'x',
    }
    const { body } = await visit('honest.lab.test', {
      ...lies,
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
    })
    expect(body.headers).toMatchObject({
      host: 'honest.lab.test',
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-host': `honest.lab.test:${at.ports.http}`,
      'x-forwarded-proto': 'http',
    })
    expect(body.headers).not.toHaveProperty('forwarded')
    expect(body.headers).not.toHaveProperty('proxy')
    expect(JSON.stringify(body)).not.toContain('192.168.45.9')
  })

  test('a WebSocket goes through both ways; other upgrades are not passed on', async () => {
    await at.place(site('socket.lab.test'))
    const headers = {
      host: 'socket.lab.test',
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'AAAA',
    }
    const asking = request({ host: at.address, port: at.ports.http, headers })
    asking.end()
    const [response, socket] = await once(asking, 'upgrade')
    expect(response.statusCode).toBe(101)
    socket.write('ping')
    expect(String((await once(socket, 'data'))[0])).toBe('ping')
    socket.destroy()
    const { body } = await visit('socket.lab.test', {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AA',
    })
    expect(body.headers).not.toHaveProperty('upgrade')
  })

  test('a stream is not held back', async () => {
    await at.place(site('stream.lab.test'))
    const asking = request({
      host: at.address,
      port: at.ports.http,
      path: '/stream',
      headers: { host: 'stream.lab.test' },
    })
    asking.on('error', () => undefined).end()
    const [response] = await once(asking, 'response')
    expect(String((await once(response, 'data'))[0])).toBe('data: first\n\n')
    asking.destroy()
  })

  test('answers to challenges are served, and only those', async () => {
    await at.place(site('proof.lab.test'))
    await answering('proof.lab.test', 'token_-1', 'token_-1.thumb_-2')
    const path = '/.well-known/acme-challenge/token_-1'
    expect(await visit('proof.lab.test', {}, path)).toMatchObject({ status: 200, text: 'token_-1.thumb_-2' })
    expect((await visit('proof.lab.test', {}, `${path}x`)).body).toMatchObject({ path: `${path}x` })
  })

  test('a host with the longest name that can be exposed', async () => {
    const host = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(40)}.lab.test`
    expect(host.length).toBe(241)
    await at.place(site(host, { certificate: await at.certificate(host) }))
    expect(await at.edge.ask({ host, path: '/', tls: true })).toMatchObject({ kind: 'answer', httpStatus: 200 })
    await at.remove(host)
  })
})

describe('over https', () => {
  test('a host has its certificate, http is redirected, HTTP/2 is spoken', async () => {
    const certificate = await at.certificate('tls.lab.test')
    await at.place(site('tls.lab.test', { certificate }))
    const answer = await at.edge.ask({ host: 'tls.lab.test', path: '/', tls: true })
    expect(answer).toMatchObject({
      kind: 'answer',
      httpStatus: 200,
      certificate: { fingerprint: certificate.fingerprint, names: ['tls.lab.test'] },
    })
    const redirect = await visit('tls.lab.test', {}, '/a?b=c')
    expect(redirect).toMatchObject({
      status: 308,
      headers: { location: `https://tls.lab.test:${at.ports.https}/a?b=c` },
    })
    const resolve = `tls.lab.test:${at.ports.https}:${at.address}`
    const args = ['-sk', '--http2', '--resolve', resolve, '-w', '\n%{http_version}', '--max-time', '5']
    const { stdout } = await run('curl', [...args, `https://tls.lab.test:${at.ports.https}/`])
    const [body = '', version] = stdout.split('\n')
    expect(version).toBe('2')
    expect(JSON.parse(body).headers).toMatchObject({
      'x-forwarded-proto': 'https',
      'x-forwarded-host': `tls.lab.test:${at.ports.https}`,
    })
  })

  test('answers to challenges are still served over http', async () => {
    const certificate = await at.certificate('renew.lab.test')
    await at.place(site('renew.lab.test', { certificate }))
    await answering('renew.lab.test', 't', 't.k')
    expect(await visit('renew.lab.test', {}, '/.well-known/acme-challenge/t')).toMatchObject({
      status: 200,
      text: 't.k',
    })
    expect(await visit('renew.lab.test')).toMatchObject({ status: 308 })
  })

  test('two hosts share a wildcard that is stored once, and one stays when the other goes', async () => {
    const certificate = await at.certificate('*.wild.test')
    const before = at.keysOf('tls/keys-1').length
    await at.place(site('one.wild.test', { certificate }))
    await at.place(site('two.wild.test', { certificate }))
    expect(at.keysOf('tls/keys-1')).toHaveLength(before + 1)
    await at.remove('one.wild.test')
    expect(await at.edge.ask({ host: 'one.wild.test', path: '/', tls: true })).toMatchObject({
      reason: 'handshake_refused',
    })
    expect(await at.edge.ask({ host: 'two.wild.test', path: '/', tls: true })).toMatchObject({
      httpStatus: 200,
      certificate: { fingerprint: certificate.fingerprint },
    })
    await at.remove('two.wild.test')
    expect(at.keysOf('tls/keys-1')).toHaveLength(before)
  })

  test('a new certificate takes the place of the old one, whose key goes', async () => {
    const host = 'renewed.lab.test'
    await at.place(site(host, { certificate: await at.certificate(host) }))
    const keys = at.keysOf('tls/keys-1')
    const certificate = await at.certificate(host)
    await at.place(site(host, { certificate }))
    expect(await at.edge.ask({ host, path: '/', tls: true })).toMatchObject({
      certificate: { fingerprint: certificate.fingerprint },
    })
    expect(at.keysOf('tls/keys-1')).toHaveLength(keys.length)
    await at.place(site(host))
    expect(await at.edge.ask({ host, path: '/', tls: true })).toMatchObject({ reason: 'handshake_refused' })
    expect(at.keysOf('tls/keys-1')).toHaveLength(keys.length - 1)
  })

  test('a chain longer than one value of nginx is served whole', async () => {
    const host = 'chain.lab.test'
    const leaf = await at.certificate(host)
    const links = await Promise.all(Array.from({ length: 8 }, () => at.certificate('link.test')))
    const certificatePem = [leaf, ...links].map((link) => link.certificatePem).join('')
    expect(certificatePem.length).toBeGreaterThan(4096)
    await at.place(site(host, { certificate: { ...leaf, certificatePem } }))
    expect(chainLength(host)).toBe(9)
    expect(at.keysOf('tls/certificates-2')).toHaveLength(1)
    await at.remove(host)
    expect(at.keysOf('tls/certificates-2')).toEqual([])
  })
})

describe('names that nobody serves', () => {
  test('are refused on both ports', async () => {
    expect(await visit('nobody.lab.test')).toMatchObject({ status: 404 })
    const refused = { kind: 'no_answer', reason: 'handshake_refused' }
    expect(await at.edge.ask({ host: 'nobody.lab.test', path: '/', tls: true })).toEqual(refused)
    await at.place(site('plain-only.lab.test'))
    expect(await at.edge.ask({ host: 'plain-only.lab.test', path: '/', tls: true })).toEqual(refused)
  })

  test('do not get in under the name of a host that is served', async () => {
    await at.place(site('door.lab.test', { certificate: await at.certificate('door.lab.test') }))
    const options = { host: at.address, port: at.ports.https, servername: 'door.lab.test', rejectUnauthorized: false }
    const asking = getSecurely({ ...options, headers: { host: 'nobody.lab.test' }, agent: false })
    const [response] = await once(asking, 'response')
    expect(response.statusCode).toBe(421)
    response.resume()
  })
})

/** How many certificates the edge sends, counted by openssl. */
function chainLength(host: string): number {
  const args = ['s_client', '-connect', `${at.address}:${at.ports.https}`, '-servername', host, '-showcerts']
  const printed = execFileSync('openssl', args, { input: '', encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] })
  return printed.match(/BEGIN CERTIFICATE/g)?.length ?? 0
}
