import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import type { Answer } from '../../support/http/call.ts'
import { healthy, type Site, startSite } from '../../support/http/site.ts'
import { stored } from '../../support/http/stored.ts'

/** The public plan asks a backend whether it is well: it must tell the public nothing else about the network inside. */
let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(() => site.stop())

const withoutId = ({ status, body }: Answer) => ({ status, body: { ...body, requestId: undefined } })

describe('to the public', () => {
  test('a closed port, a silent one, a banner, an error and a redirect are one and the same', async () => {
    const on = `${site.api.network}.25`
    const talks: ((socket: Socket) => void)[] = [
      () => undefined,
      (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'),
      (socket) => socket.end(),
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end('HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n'),
      (socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'),
      (socket) => socket.end('HTTP/1.1 302 Found\r\nlocation: /ok\r\ncontent-length: 0\r\n\r\n'),
    ]
    const backends: Backend[] = []
    for (const talk of talks) backends.push(await startBackend(talk, on))
    const ports = [await freePort(on), ...backends.map(({ port }) => port)]
    const began = performance.now()
    const planned = async (body: Record<string, unknown>) => {
      const answer = await site.plan(body, 'outside')
      // The contract's 3.5 s: a silent port is given up after 3 s. A timer may fire a moment early.
      expect(performance.now() - began).toBeGreaterThan(3_400)
      return answer
    }
    const [answers, pages] = await Promise.all([
      Promise.all(ports.map((port) => planned({ port }))),
      // A maintenance page needs no backend, so this plan is made.
      Promise.all(ports.map((port) => planned({ port, subdomain: 'closed', options: { maintenance: {} } }))),
    ])
    for (const backend of backends) await backend[Symbol.asyncDispose]()
    const [first, ...others] = answers.map(withoutId)
    expect(first).toMatchObject({ status: 422, body: { code: 'backend_unhealthy' } })
    for (const other of others) expect(other).toEqual(first)
    const unhealthy = 'The backend did not answer HTTP 2xx on its health path.'
    for (const { status, body } of pages) {
      expect([status, body.checks[0]]).toEqual([
        201,
        { name: 'health', status: 'warning', detail: `${unhealthy} The maintenance page does not need it.` },
      ])
      const path = `/api/deploy/plans/${body.planId}`
      expect((await site.api.call({ path, from: 'outside' })).body.checks[0]).toEqual(body.checks[0])
    }
    for (const { text } of answers)
      expect(text.replace(/req_[0-9a-f]+/, '')).not.toMatch(/refused|timeout|in time|not_http|SSH|500|302|latency/i)
    expect(new Set(answers.map(({ headers }) => Object.keys(headers).sort().join()))).toHaveProperty('size', 1)
  })

  test.runIf(process.env.CAMPAIGN)(
    'a closed port answers no sooner than a silent one; callers inside and other refusals do not wait',
    async () => {
      const closed = await freePort(`${site.api.network}.25`)
      const began = performance.now()
      const told: string[] = []
      const plan = async (word: string, from: string, server = '25') => {
        const { body } = await site.plan({ port: closed, server }, from)
        told.push(`${word} ${body.code}`)
        return body
      }
      await Promise.all([plan('outside', 'outside'), plan('inside', 'inside'), plan('other', 'outside', '9')])
      expect(told.at(-1)).toBe('outside backend_unhealthy')
      expect(told.toSorted()).toEqual([
        'inside backend_unhealthy',
        'other server_not_allowed',
        'outside backend_unhealthy',
      ])
      // The contract's 3.5 s: a silent port is given up after 3 s. A timer may fire a moment early.
      expect(performance.now() - began).toBeGreaterThan(3_400)
    },
  )

  test.runIf(process.env.CAMPAIGN)('not even a name that is taken as well tells them apart', async () => {
    const backend = await startBackend((socket) => socket.end('HTTP/1.1 500 No\r\n\r\n'), `${site.api.network}.25`)
    const closed = await freePort(`${site.api.network}.25`)
    const ports = [closed, backend.port]
    const answers = await Promise.all(ports.map((port) => site.plan({ port, subdomain: 'ns1' }, 'outside')))
    await backend[Symbol.asyncDispose]()
    expect(answers.map(withoutId)[0]).toEqual(answers.map(withoutId)[1])
  })

  test('what the audit holds does not come out through the plan either', () => {
    // Those with a maintenance page.
    expect(stored(site.api).plans).toBe(8)
  })
})

describe('what is never asked', () => {
  test('our own listeners', async () => {
    for (const server of ['23', '25', '253']) {
      for (const port of [8045, 8080, 8443]) {
        const { status, body } = await site.plan({ server, port }, 'inside')
        expect([status, body.code]).toEqual([422, 'port_not_allowed'])
      }
    }
  })

  test.each([22, 25, 53, 0, -1, 1023, 65_536, 4_294_967_376])('port %i', async (port) => {
    const { status, body } = await site.plan({ port }, 'inside')
    expect([status, body.code]).toEqual([422, 'port_not_allowed'])
  })

  test('a server that is not registered, though it listens', async () => {
    const asked: string[] = []
    const addresses = ['.73', '.99', '.1'].map((last) => `${site.api.network}${last}`)
    const backends = []
    for (const address of [...addresses, '127.0.0.1']) {
      const backend = await startBackend((socket) => {
        asked.push(address)
        socket.end(healthy)
      }, address)
      backends.push(backend)
      for (const server of ['73', '99', '1', 'localhost', String(address.split('.').at(-1))]) {
        const { status, body } = await site.plan({ server, port: backend.port }, 'inside')
        expect([status, body.code]).toEqual([422, 'server_not_allowed'])
      }
    }
    for (const backend of backends) await backend[Symbol.asyncDispose]()
    expect(asked).toEqual([])
  })

  test.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '[::1]',
    'localhost.',
    '25.',
    ' 25',
    '٢٥',
    '__proto__',
    'constructor',
  ])('a server called %s', async (server) => {
    const { status } = await site.plan({ server }, 'inside')
    expect([400, 422]).toContain(status)
  })

  test('where a redirect leads', async () => {
    let asked = 0
    const target = await startBackend((socket) => {
      asked += 1
      socket.end(healthy)
    }, `${site.api.network}.25`)
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `http://${target.address}:${target.port}/`
      const redirecting = await startBackend(
        (socket) => socket.end(`HTTP/1.1 ${status} Go\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
        `${site.api.network}.25`,
      )
      const refused = await site.plan({ port: redirecting.port }, 'inside')
      await redirecting[Symbol.asyncDispose]()
      expect(refused.body).toMatchObject({ code: 'backend_unhealthy', checks: [{ httpStatus: status }, {}, {}, {}] })
    }
    await target[Symbol.asyncDispose]()
    expect(asked).toBe(0)
  })
})
