import { describe, expect, test } from 'vitest'
import { acmeDirectory } from '../../../src/certificates/acme/directory.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type Backend, startBackend } from '../../support/backends/backend.ts'

const urlOf = ({ address, port }: Backend): string => `http://${address}:${port}/dir?x=1`

const startAnswering = (...bodies: string[]) => {
  let asked = 0
  return startBackend((socket) => {
    const body = bodies[Math.min(asked, bodies.length - 1)] ?? ''
    asked += 1
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nx-asked: ${asked}\r\n\r\n${body}`)
  })
}

const directoryOf = (identities: unknown) =>
  JSON.stringify({ newOrder: 'https://ca.test/new-order', meta: { caaIdentities: identities } })

describe('what a directory says', () => {
  test.each<[string, unknown]>([
    [directoryOf(['ca.test', 'ca.example']), ['ca.test', 'ca.example']],
    [directoryOf(['ca.test', 7, null]), ['ca.test']],
    [directoryOf('ca.test'), []],
    [directoryOf(undefined), []],
    ['{"newOrder":"https://ca.test/new-order","meta":null}', []],
    ['{"newOrder":"https://ca.test/new-order"}', []],
  ])('%s', async (body, caaIdentities) => {
    await using ca = await startAnswering(body)
    expect(await acmeDirectory({ url: urlOf(ca), clock: systemClock }).read()).toEqual({
      kind: 'available',
      caaIdentities,
    })
    expect(ca.request()).toMatch(/^GET \/dir\?x=1 HTTP/)
  })
})

describe('what is no directory', () => {
  const startSaying = (text: string) => startBackend((socket) => socket.end(text))
  const secret = 'canary-of-the-other-side'

  test.each([
    ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}', 'its response is not an ACME directory'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull', 'its response is not an ACME directory'],
    [`HTTP/1.1 200 OK\r\ncontent-length: ${secret.length}\r\n\r\n${secret}`, 'its response is not an ACME directory'],
    ['HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n', 'it answered HTTP 302'],
    ['HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n', 'it answered HTTP 503'],
    [secret, 'the request failed (HTTPParserError)'],
  ])('%j', async (text, reason) => {
    await using ca = await startSaying(text)
    expect(await acmeDirectory({ url: urlOf(ca), clock: systemClock }).read()).toEqual({ kind: 'unavailable', reason })
  })

  test('silence', async () => {
    await using ca = await startBackend(() => undefined)
    expect(await acmeDirectory({ url: urlOf(ca), limitMs: 100, clock: systemClock }).read()).toEqual({
      kind: 'unavailable',
      reason: 'it did not answer in time',
    })
  })

  test('a body that never ends', async () => {
    await using ca = await startBackend((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const flood = () => {
        while (socket.writable && socket.write(Buffer.alloc(65_536, 32)));
      }
      socket.on('drain', flood)
      flood()
    })
    expect(await acmeDirectory({ url: urlOf(ca), clock: systemClock }).read()).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('UND_ERR_RES_EXCEEDED_MAX_SIZE'),
    })
  })
})

describe('the CA is not hammered', () => {
  const ids = (look: unknown) => (look as { caaIdentities?: string[] }).caaIdentities

  test('a success is good for a minute', async () => {
    await using ca = await startAnswering(directoryOf(['first']), directoryOf(['second']))
    let now = 0
    const directory = acmeDirectory({ url: urlOf(ca), clock: { ...systemClock, monotonic: () => now } })
    expect(ids(await directory.read())).toEqual(['first'])
    now = 59_999
    expect(ids(await directory.read())).toEqual(['first'])
    now = 60_000
    expect(ids(await directory.read())).toEqual(['second'])
  })

  test('a failure is good for five seconds', async () => {
    await using ca = await startAnswering('not yet', directoryOf(['second']))
    let now = 0
    const directory = acmeDirectory({ url: urlOf(ca), clock: { ...systemClock, monotonic: () => now } })
    expect((await directory.read()).kind).toBe('unavailable')
    now = 4_999
    expect((await directory.read()).kind).toBe('unavailable')
    now = 5_000
    expect((await directory.read()).kind).toBe('available')
  })

  test('a failure that says when to come again is good until then, and counts down', async () => {
    const limited = 'HTTP/1.1 429 Too Many\r\nretry-after: 600\r\ncontent-length: 0\r\n\r\n'
    const answers = [limited, `HTTP/1.1 200 OK\r\n\r\n${directoryOf([])}`]
    await using ca = await startBackend((socket) => socket.end(answers.shift() ?? ''))
    let now = 0
    const directory = acmeDirectory({ url: urlOf(ca), clock: { ...systemClock, monotonic: () => now } })
    const limit = { kind: 'unavailable', reason: 'it answered HTTP 429' }
    expect(await directory.read()).toEqual({ ...limit, retryAfter: 600 })
    now = 590_000
    expect(await directory.read()).toEqual({ ...limit, retryAfter: 10 })
    now = 600_000
    expect((await directory.read()).kind).toBe('available')
  })

  test('a hundred who ask at once are one request', async () => {
    await using ca = await startAnswering(directoryOf(['first']), directoryOf(['second']))
    const directory = acmeDirectory({ url: urlOf(ca), clock: systemClock })
    const looks = await Promise.all(Array.from({ length: 100 }, () => directory.read()))
    expect(new Set(looks.map((look) => ids(look)?.[0]))).toEqual(new Set(['first']))
  })
})
