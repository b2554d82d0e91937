import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { edgeVisitor } from '../../../src/edge/visit/visitor.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { makeCertificate } from '../../support/edge/openssl.ts'
import { blockFor } from '../../support/programs/block.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
const pem = { certificate: join(folder.path, 'c.pem'), key: join(folder.path, 'k.pem') }

beforeAll(() => makeCertificate({ ...pem, names: ['DNS:*.lab.test'] }))
afterAll(() => folder[Symbol.dispose]())

function visiting(port: number, limitMs = 2_000) {
  const visitor = edgeVisitor(limitMs, systemClock)
  onTestFinished(() => visitor.close())
  return (host: string, { tls = false, full = false } = {}) =>
    visitor.visit({ host, path: '/up', tls, full, listenAddress: { address: '127.0.0.1', port } })
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describe('plainly', () => {
  async function web(answer: RequestListener, limitMs?: number) {
    const server = createServer(answer)
    const sockets: Socket[] = []
    server.on('connection', (socket) => sockets.push(socket))
    return { visit: visiting(await listening(server), limitMs), sockets }
  }

  test('one connection carries any number of hosts', async () => {
    const hosts: unknown[] = []
    const { visit, sockets } = await web((request, response) => {
      hosts.push(`${request.headers.host} ${request.url}`)
      response.setHeader('content-length', 2).end('ok')
    })
    for (let i = 0; i < 5; i += 1)
      expect(await visit(`h${i}.lab.test`)).toMatchObject({ kind: 'answer', httpStatus: 200 })
    expect(hosts).toEqual([0, 1, 2, 3, 4].map((i) => `h${i}.lab.test /up`))
    expect(sockets).toHaveLength(1)
  })

  test('a connection that is used again and again gathers no listeners', async () => {
    const { visit, sockets } = await web((_request, response) => response.setHeader('content-length', 0).end())
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    for (let i = 0; i < 30; i += 1) await visit(`h${i}.lab.test`)
    await new Promise(setImmediate)
    expect(warnings).toEqual([])
    expect(sockets).toHaveLength(1)
  })

  test('a connection that waits does not keep the process from ending', async () => {
    const server = createServer((_request, response) => response.setHeader('content-length', 2).end('ok'))
    server.keepAliveTimeout = 600_000
    const port = await listening(server)
    const script = `
      import { edgeVisitor } from '${pathToFileURL(resolve('src/edge/visit/visitor.ts'))}'
      import { systemClock } from '${pathToFileURL(resolve('src/primitives/clock.ts'))}'
      const listenAddress = { address: '127.0.0.1', port: ${port} }
      const answer = await edgeVisitor(60_000, systemClock).visit({ host: 'h.lab.test', path: '/', tls: false, full: false, listenAddress })
      console.log(answer.kind)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      timeout: 60_000,
    })
    expect(stdout).toBe('answer\n')
  })

  test('a connection that was closed meanwhile, or whose body has no end, is replaced', async () => {
    const { visit, sockets } = await web((request, response) => {
      if (request.headers.host === 'endless.lab.test') response.write('for ever')
      else response.setHeader('content-length', 0).end()
    })
    await visit('a.lab.test')
    sockets[0]?.destroy()
    expect(await visit('b.lab.test')).toMatchObject({ kind: 'answer', httpStatus: 200 })
    expect(await visit('endless.lab.test')).toMatchObject({ kind: 'answer', httpStatus: 200 })
    expect(await visit('c.lab.test')).toMatchObject({ kind: 'answer', httpStatus: 200 })
    expect(sockets).toHaveLength(3)
  })

  test('an interim answer is passed over', async () => {
    const { visit } = await web((_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.writeHead(503).end()
    })
    expect(await visit('a.lab.test')).toMatchObject({ httpStatus: 503 })
  })

  test("the edge's default server is no answer of the host", async () => {
    const { visit } = await web((_request, response) =>
      response.writeHead(404, { 'x-drawbridge-edge': 'no-such-host', 'content-length': 0 }).end(),
    )
    expect(await visit('a.lab.test')).toEqual({ kind: 'no_answer', reason: 'unknown_host' })
  })

  test.each<[string, (socket: Socket) => void, string]>([
    ['something else than HTTP', (socket) => socket.end('220 mail.lab.test ESMTP\r\n'), 'not_http'],
    ['an end without a word', (socket) => socket.end(), 'not_http'],
    ['silence', () => undefined, 'timeout'],
  ])('%s is no answer', async (_what, talk, reason) => {
    const port = await listening(createTcpServer((socket) => talk(socket.on('error', () => undefined))))
    expect(await visiting(port, 300)('a.lab.test')).toEqual({ kind: 'no_answer', reason })
  })

  test('an answer that came while this process was late is heard', async () => {
    const { visit } = await web((_request, response) => response.writeHead(204).end(), 300)
    const visiting = visit('a.lab.test')
    blockFor(500)
    expect(await visiting).toMatchObject({ kind: 'answer', httpStatus: 204 })
  })

  test('nobody there is refused', async () => {
    expect(await visiting(await freePort())('a.lab.test')).toEqual({ kind: 'no_answer', reason: 'refused' })
  })
})

describe('with TLS', () => {
  async function secure(options: ServerOptions = {}) {
    const files = { cert: readFileSync(pem.certificate), key: readFileSync(pem.key) }
    const server = createTlsServer({ ...files, ...options }, (_request, response) => response.writeHead(204).end())
    const handshakes: string[] = []
    server.on('secureConnection', (socket: TLSSocket) => {
      const { servername } = socket as TLSSocket & { servername: string }
      handshakes.push(`${servername} ${socket.getProtocol()} ${socket.isSessionReused() ? 'resumed' : 'whole'}`)
    })
    return { visit: visiting(await listening(server)), handshakes }
  }

  test("each host's session is resumed, but for a full visit, which tells of the certificate", async () => {
    const { visit, handshakes } = await secure()
    for (const host of ['a.lab.test', 'b.lab.test', 'a.lab.test']) {
      expect(await visit(host, { tls: true })).toMatchObject({ httpStatus: 204 })
    }
    const full = await visit('a.lab.test', { tls: true, full: true })
    expect(full).toMatchObject({ certificate: { names: ['*.lab.test'] } })
    expect(handshakes).toEqual([
      'a.lab.test TLSv1.2 whole',
      'b.lab.test TLSv1.2 whole',
      // Node's server forgets the name of a session that it resumes.
      'false TLSv1.2 resumed',
      'a.lab.test TLSv1.3 whole',
    ])
  })

  test('a host that speaks TLS 1.3 alone is asked so, from the second try on', async () => {
    const { visit, handshakes } = await secure({ minVersion: 'TLSv1.3' })
    for (let i = 0; i < 2; i += 1) expect(await visit('a.lab.test', { tls: true })).toMatchObject({ httpStatus: 204 })
    expect(handshakes[0]).toBe('a.lab.test TLSv1.3 whole')
    expect(handshakes).toHaveLength(2)
  })

  test('a name that is refused in the handshake is told apart from one that is down', async () => {
    const { visit } = await secure({ SNICallback: (_name, done) => done(new Error('nobody')) })
    expect(await visit('x.lab.test', { tls: true })).toEqual({ kind: 'no_answer', reason: 'handshake_refused' })
  })
})
