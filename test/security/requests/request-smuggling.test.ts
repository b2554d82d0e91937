import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { startService, type TestService } from '../../support/http/service.ts'

/** Requests that two readers could read differently are answered once, with a refusal, and the connection ends. */
let api: TestService
let host: string

beforeAll(async () => {
  api = await startService()
  host = `Host: ${new URL(api.origin).host}`
})

afterAll(() => api.stop())

const send = (bytes: string | Buffer) => sendRaw(api.origin, `${api.network}.10`, bytes)
const body = '{"planId":"plan_00000000000000000000000000"}'
const json = 'Content-Type: application/json'
/** What an attacker would like to be read as a request of its own. */
const hidden = () => `GET /api/policy?hidden HTTP/1.1\r\n${host}\r\n\r\n`

const ambiguous: [string, () => string | Buffer][] = [
  [
    'Content-Length and Transfer-Encoding',
    () =>
      `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden()}`,
  ],
  [
    'Transfer-Encoding and Content-Length',
    () =>
      `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden()}`,
  ],
  [
    'two different Content-Lengths',
    () =>
      `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: ${body.length}\r\nContent-Length: ${body.length + hidden().length}\r\n\r\n${body}${hidden()}`,
  ],
  [
    'the same Content-Length twice',
    () =>
      `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: ${body.length}\r\nContent-Length: ${body.length}\r\n\r\n${body}${hidden()}`,
  ],
  [
    'a list of Content-Lengths',
    () => `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: 0, 44\r\n\r\n${body}${hidden()}`,
  ],
  [
    'a signed Content-Length',
    () => `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: +0\r\n\r\n${hidden()}`,
  ],
  [
    'a hexadecimal Content-Length',
    () => `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: 0x0\r\n\r\n${hidden()}`,
  ],
  [
    'an unknown Transfer-Encoding',
    () => `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nTransfer-Encoding: xchunked\r\n\r\n${hidden()}`,
  ],
  [
    'chunked, but not last',
    () =>
      `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden()}`,
  ],
  [
    'a chunk size that is no number',
    () =>
      `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n\r\n${hidden()}`,
  ],
  [
    'a space before the colon of Host',
    () => `GET /api/policy HTTP/1.1\r\n${host.replace(':', ' :')}\r\n\r\n${hidden()}`,
  ],
  [
    'a space before the colon of Transfer-Encoding',
    () =>
      `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden()}`,
  ],
  ['a space before the first header', () => `GET /api/policy HTTP/1.1\r\n ${host}\r\n\r\n${hidden()}`],
  ['bare line feeds', () => `GET /api/policy HTTP/1.1\n${host}\n\n${hidden()}`],
  ['one bare line feed between headers', () => `GET /api/policy HTTP/1.1\r\n${host}\nX-A: b\r\n\r\n${hidden()}`],
  ['bare carriage returns', () => `GET /api/policy HTTP/1.1\r${host}\r\r${hidden()}`],
  ['a folded header', () => `GET /api/policy HTTP/1.1\r\n${host}\r\nX-A: b\r\n c\r\n\r\n${hidden()}`],
  [
    'a folded Transfer-Encoding',
    () =>
      `POST /api/internal/token HTTP/1.1\r\n${host}\r\n${json}\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden()}`,
  ],
  ['NUL in a header', () => `GET /api/policy HTTP/1.1\r\n${host}\r\nX-A: b\0c\r\n\r\n${hidden()}`],
  ['NUL in a header name', () => `GET /api/policy HTTP/1.1\r\n${host}\r\nX-\0A: b\r\n\r\n${hidden()}`],
  ['a header without a colon', () => `GET /api/policy HTTP/1.1\r\n${host}\r\nX-A\r\n\r\n${hidden()}`],
  ['a header without a name', () => `GET /api/policy HTTP/1.1\r\n${host}\r\n: b\r\n\r\n${hidden()}`],
  ['a header of 64 KiB', () => `GET /api/policy HTTP/1.1\r\n${host}\r\nX-A: ${'b'.repeat(65_536)}\r\n\r\n${hidden()}`],
  ['an address of 64 KiB', () => `GET /${'a'.repeat(65_536)} HTTP/1.1\r\n${host}\r\n\r\n${hidden()}`],
  ['10,000 headers', () => `GET /api/policy HTTP/1.1\r\n${host}\r\n${'X-A: b\r\n'.repeat(10_000)}\r\n${hidden()}`],
  ['an unknown method', () => `STEAL /api/policy HTTP/1.1\r\n${host}\r\n\r\n${hidden()}`],
  ['a lower-case method', () => `get /api/policy HTTP/1.1\r\n${host}\r\n\r\n${hidden()}`],
  ['HTTP/2 on a plain socket', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/9.9', () => `GET /api/policy HTTP/9.9\r\n${host}\r\n\r\n${hidden()}`],
  ['a TLS greeting', () => Buffer.from('160301020001000001fc0303', 'hex')],
  ['noise', () => Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 37 + 128) % 256))],
]

describe('what is not clearly one request', () => {
  test.each(ambiguous)('%s: one refusal, and the connection ends', async (_name, bytes) => {
    const { statuses, body: problem, closed, text } = await send(bytes())
    expect(statuses).toEqual([400])
    expect(problem).toMatchObject({ code: 'invalid_request', status: 400, requestId: expect.stringMatching(/^req_/) })
    expect(text).toMatch(/content-type: application\/problem\+json/i)
    expect(closed).toBe(true)
  })

  test('and nothing that hid in it was answered or logged as a request', async () => {
    const { statuses } = await send(rawRequest(api.origin, 'GET /api/policy HTTP/1.1'))
    expect(statuses).toEqual([200])
    const requests = api
      .log()
      .split('\n')
      .filter((line) => line.includes('"event":"request"') && line.includes('"status":200'))
    expect(requests).toHaveLength(1)
  })
})

describe('two requests in one packet', () => {
  test('are two requests, judged one by one', async () => {
    const second = rawRequest(api.origin, 'GET /api/policy HTTP/1.1', 'Host: evil.test')
    const { statuses } = await send(`GET /api/policy HTTP/1.1\r\n${host}\r\n\r\n${second}`)
    expect(statuses).toEqual([200, 421])
  })

  test('a body that a refusal left unread is not taken for a request', async () => {
    const first = `POST /api/nowhere HTTP/1.1\r\n${host}\r\n${json}\r\nContent-Length: ${hidden().length}\r\n\r\n`
    const { statuses } = await send(`${first}${hidden()}`)
    expect(statuses).toEqual([404])
  })
})
