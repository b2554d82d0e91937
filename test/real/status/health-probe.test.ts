import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { probeFairly, probeHealth } from '../../../src/observe/health-probe.ts'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import { takes } from '../../support/delay.ts'
import { blockFor } from '../../support/programs/block.ts'

const MEGABYTE = Buffer.alloc(1024 * 1024)

const probe = ({ address, port }: Pick<Backend, 'address' | 'port'>, limitMs?: number) =>
  probeHealth({ address, port, path: '/healthz?deep=1', host: 'app.lab.test' }, limitMs)

const answer = (head: string) => (socket: Socket) => void socket.write(`HTTP/1.1 ${head}\r\n\r\n`)

const healthy = (httpStatus: number) => ({ kind: 'healthy', httpStatus, latencyMs: expect.any(Number) })
const unhealthy = (reason: string, httpStatus?: number) => ({
  kind: 'unhealthy',
  reason,
  ...(httpStatus && { httpStatus }),
  latencyMs: expect.any(Number),
})

/** Writes for as long as the other side takes. */
function flood(socket: Socket, chunk: Buffer): void {
  while (socket.writable && socket.write(chunk));
  if (socket.writable) socket.once('drain', () => flood(socket, chunk))
}

describe('only 2xx is healthy', () => {
  test.each([
    ['200 OK\r\ncontent-length: 0', healthy(200)],
    ['204 No Content', healthy(204)],
    ['299 Odd\r\ncontent-length: 0', healthy(299)],
    ['301 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0', unhealthy('status', 301)],
    ['404 Not Found\r\ncontent-length: 0', unhealthy('status', 404)],
    ['500 Broken\r\ncontent-length: 0', unhealthy('status', 500)],
    ['102 Working\r\n\r\nHTTP/1.1 503 Unavailable\r\ncontent-length: 0', unhealthy('status', 503)],
    ['103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0', healthy(200)],
  ])('%j', async (head, fact) => {
    await using backend = await startBackend(answer(head))
    expect(await probe(backend)).toEqual(fact)
  })

  test('it asks for the path under the name that will be served, and asks for no compression', async () => {
    await using backend = await startBackend(answer('200 OK\r\ncontent-length: 0'))
    await probe(backend)
    expect(backend.request()).toMatch(/^GET \/healthz\?deep=1 HTTP\/1\.1\r\n/)
    expect(backend.request()).toMatch(/\r\nhost: app\.lab\.test\r\n/i)
    expect(backend.request()).toMatch(/\r\naccept-encoding: identity\r\n/i)
    expect(backend.request()).toMatch(/\r\nconnection: close\r\n/i)
  })

  test('an IPv6 backend is reached too', async () => {
    await using backend = await startBackend(answer('200 OK\r\ncontent-length: 0'), '::1')
    expect(await probe(backend)).toEqual(healthy(200))
  })

  test('a redirect is not followed', async () => {
    await using elsewhere = await startBackend(answer('200 OK\r\ncontent-length: 0'))
    await using backend = await startBackend(
      answer(`302 Found\r\nlocation: http://127.0.0.1:${elsewhere.port}/\r\ncontent-length: 0`),
    )
    expect(await probe(backend)).toEqual(unhealthy('status', 302))
    expect(elsewhere.request()).toBe('')
  })
})

describe('what is not a status', () => {
  test('a closed port', async () => {
    expect(await probe({ address: '127.0.0.1', port: await freePort() })).toEqual(unhealthy('refused'))
  })

  test('an address that cannot be reached', async () => {
    expect(await probe({ address: '255.255.255.255', port: 80 })).toEqual(unhealthy('unreachable'))
  })

  test('silence', async () => {
    await using backend = await startBackend(() => undefined)
    expect(await probe(backend, 100)).toEqual(unhealthy('timeout'))
  })

  test('headers that drip without an end', async () => {
    await using backend = await startBackend(async (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      for (let i = 0; socket.writable; i += 1) {
        socket.write(`x-${i}: y\r\n`)
        await takes(5)
      }
    })
    expect(await probe(backend, 150)).toEqual(unhealthy('timeout'))
  })

  test('interim answers that drip without an end', async () => {
    await using backend = await startBackend(async (socket) => {
      while (socket.writable) {
        socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')
        await takes(50)
      }
    })
    expect(await probe(backend, 150)).toEqual(unhealthy('timeout'))
  })

  test('interim answers in a flood', async () => {
    await using backend = await startBackend((socket) =>
      flood(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100))),
    )
    expect(await probe(backend)).toEqual(unhealthy('not_http'))
    await vi.waitFor(() => expect(backend.openSockets()).toBe(0))
  })

  test.each([
    ['a banner of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['noise', '\x00\xff\x15\x03\x01'],
    ['half a status line', 'HTTP/1.1 2'],
  ])('%s', async (_, bytes) => {
    await using backend = await startBackend((socket) => socket.end(bytes, 'latin1'))
    expect(await probe(backend)).toEqual(unhealthy('not_http'))
  })

  test('a connection that is closed without a word', async () => {
    await using backend = await startBackend((socket) => socket.destroy())
    expect(await probe(backend)).toEqual(unhealthy('not_http'))
  })

  test('headers larger than any honest ones', async () => {
    await using backend = await startBackend((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx: ')
      flood(socket, Buffer.alloc(16 * 1024, 'y'))
    })
    expect(await probe(backend)).toEqual(unhealthy('not_http'))
  })
})

describe('a body costs neither time nor memory', () => {
  const gzips = Array.from({ length: 10 }).reduce<Buffer>((bytes) => gzipSync(bytes), MEGABYTE)

  test.each<[string, (socket: Socket) => void]>([
    [
      'one that never ends',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
        flood(socket, Buffer.concat([Buffer.from('100000\r\n'), MEGABYTE, Buffer.from('\r\n')]))
      },
    ],
    [
      'one of a gigabyte',
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${2 ** 30}\r\n\r\n`)
        flood(socket, MEGABYTE)
      },
    ],
    [
      'stacked gzips',
      (socket) => {
        const encodings = Array.from({ length: 1_000 }, () => 'gzip').join(', ')
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encodings}\r\ncontent-length: ${gzips.length}\r\n\r\n`)
        socket.write(gzips)
      },
    ],
    ['one that never begins', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n')],
  ])('%s', async (_, talk) => {
    await using backend = await startBackend(talk)
    expect(await probe(backend)).toEqual(healthy(200))
    await vi.waitFor(() => expect(backend.openSockets()).toBe(0))
    expect(backend.sent()).toBeLessThan(16 * MEGABYTE.length)
  })
})

describe('the probe of a silent backend', () => {
  test('ends with the abort, and its connection is closed', async () => {
    const reason = new Error('the run must stop')
    const controller = new AbortController()
    await using backend = await startBackend(() => controller.abort(reason))
    const target = { address: backend.address, port: backend.port, path: '/', host: 'app.lab.test' }
    await expect(probeFairly(target, 600_000, controller.signal)).rejects.toBe(reason)
    await vi.waitFor(() => expect(backend.openSockets()).toBe(0))
  })
})

describe('when this process is late', () => {
  const LIMIT_MS = 300
  const LATE_MS = 350
  const fairly = ({ address, port }: Backend) =>
    probeFairly({ address, port, path: '/', host: 'app.lab.test' }, LIMIT_MS)

  test('a backend that answered in time is healthy', async () => {
    await using backend = await startBackend(answer('200 OK\r\ncontent-length: 0'))
    const probing = fairly(backend)
    blockFor(LATE_MS)
    expect(await probing).toEqual(healthy(200))
  })

  test('a backend that answers while it is late, again and again, is healthy', async () => {
    await using backend = await startBackend((socket) =>
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), LIMIT_MS / 2),
    )
    const probing = fairly(backend)
    const blocking = setInterval(() => blockFor(LIMIT_MS), 20)
    expect(await probing).toEqual(healthy(200))
    clearInterval(blocking)
  })

  test('a probe that failed beside it is repeated', async () => {
    let asked = 0
    await using backend = await startBackend((socket) => {
      asked += 1
      if (asked === 1) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
    const probing = fairly(backend)
    blockFor(LATE_MS)
    expect(await probing).toEqual(healthy(200))
  })

  test.each<[string, (socket: Socket) => void, unknown]>([
    ['is silent', () => undefined, unhealthy('timeout')],
    ['says 503', answer('503 Unavailable\r\ncontent-length: 0'), unhealthy('status', 503)],
    ['closes', (socket) => socket.destroy(), unhealthy('not_http')],
  ])('a backend that %s is unhealthy all the same', async (_what, talk, fact) => {
    await using backend = await startBackend(talk)
    const probing = fairly(backend)
    blockFor(LATE_MS)
    expect(await probing).toEqual(fact)
  })
})
