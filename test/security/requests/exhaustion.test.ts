import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import type { Answer } from '../../support/http/call.ts'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { requestLog } from '../../support/http/request-log.ts'
import { type Site, startSite } from '../../support/http/site.ts'

/** Somebody takes all they can get: sockets, bytes, plans. Everybody else is still answered. */
let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(() => site.stop())

/** A connection on which something was begun and never finished. */
async function begin(bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(site.api.origin)
  const socket = connect({ host: hostname, port: Number(port), localAddress: `${site.api.network}.11` })
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(bytes)
  return socket
}

describe('300 sockets that never finish what they began', () => {
  test.runIf(process.env.CAMPAIGN)('do not keep others from being answered, and are cut off', async () => {
    const { host } = new URL(site.api.origin)
    const beginnings = [
      `GET /api/policy HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `,
      'GET /api/pol',
      `POST /api/deploy/plan HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    ]
    const sockets: Socket[] = []
    for (let i = 0; i < 300; i++) sockets.push(await begin(beginnings[i % beginnings.length] ?? ''))
    const cut = sockets.map((socket) => once(socket, 'close'))
    for (let i = 0; i < 50; i++) {
      for (const path of ['/api/policy', '/livez', '/readyz']) expect((await site.api.call({ path })).status).toBe(200)
    }
    expect((await site.plan()).status).toBe(201)
    expect(sockets.filter((socket) => !socket.destroyed)).toHaveLength(300)
    await Promise.all(cut)
    expect(requestLog(site.api).filter(({ status }) => status >= 500)).toEqual([])
    expect((await site.api.call({ path: '/api/policy' })).status).toBe(200)
  })
})

test('100 KB in chunks, without a length, are refused', async () => {
  const { origin, network } = site.api
  const head = rawRequest(
    origin,
    'POST /api/deploy/plan HTTP/1.1',
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  )
  const chunks = `${(1_000).toString(16)}\r\n${' '.repeat(1_000)}\r\n`.repeat(100)
  const { statuses, body } = await sendRaw(origin, `${network}.10`, `${head}${chunks}0\r\n\r\n`)
  expect([statuses, body.code]).toEqual([[413], 'payload_too_large'])
})

describe('a backend that sends without end', () => {
  const flood = Buffer.alloc(64 * 1024, 'x')
  const pour = (socket: Socket, chunk: Buffer | string) => {
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', more)
    more()
  }

  const talks: [string, (socket: Socket) => void, number][] = [
    [
      'a body',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        pour(socket, flood)
      },
      201,
    ],
    [
      'headers',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        pour(socket, 'x-more: y\r\n'.repeat(5_000))
      },
      422,
    ],
    ['one header', (socket) => pour(socket, flood), 422],
    ['interim answers', (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000)), 422],
  ]

  test.each(talks)('%s costs neither time nor memory', async (_name, talk, status) => {
    const backend: Backend = await startBackend(talk, `${site.api.network}.25`)
    const answer = await site.plan({ port: backend.port })
    expect(answer.status).toBe(status)
    await expect.poll(() => backend.openSockets()).toBe(0)
    // What the kernel buffers for a reader that went away, and little more.
    expect(backend.sent()).toBeLessThan(16 * 1024 * 1024)
    await backend[Symbol.asyncDispose]()
  })
})

describe('400 plans at once from one public address', () => {
  test('are refused past the budget; the audit counts what it does not write', async () => {
    const { store, trail } = site.api.service
    const before = (await store.auditHead())?.seq ?? 0
    const answers: Answer[] = []
    for (let i = 0; i < 4; i++) {
      answers.push(...(await Promise.all(Array.from({ length: 100 }, () => site.plan({ port: 22 }, '127.0.0.3')))))
    }
    const counted = Map.groupBy(answers, ({ body }) => body.code as string)
    expect(counted.get('port_not_allowed')).toHaveLength(30)
    expect(counted.get('rate_limited')).toHaveLength(370)
    expect((await site.api.call({ path: '/readyz' })).status).toBe(200)

    await trail.finish(Date.now())
    const lines = (await store.readAudit(before, 10_000)).filter(({ actor }) => actor === '127.0.0.3')
    expect(lines.length).toBeLessThanOrEqual(12)
    const told = (code: string) =>
      lines
        .filter((line) => line.code === code)
        .reduce((sum, line) => sum + (line.action === 'refusals' ? Number(line.facts?.count) : 1), 0)
    expect(told('port_not_allowed')).toBe(30)
    expect(told('rate_limited')).toBe(370)
    expect(await verifyAudit(store)).toMatchObject({ ok: true })
  })
})
