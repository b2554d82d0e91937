import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawRequest, sendRaw } from '../../support/http/raw-socket.ts'
import { startService, type TestService } from '../../support/http/service.ts'

/** A name of the attacker's that now leads to us: the browser calls it same-origin, the Host gives it away. */
let api: TestService
let own: string

beforeAll(async () => {
  api = await startService({
    settings: 'publicUrls: [http://drawbridge.test:8045, https://bridge.example.test, "http://drawbridge.test:80"]',
  })
  own = new URL(api.origin).host
})

afterAll(() => api.stop())

const ask = (...headers: string[]) =>
  sendRaw(api.origin, `${api.network}.10`, rawRequest(api.origin, 'GET /api/policy HTTP/1.1', ...headers))

describe('a Host that is not ours', () => {
  test.each([
    ['a name of the attacker', 'evil.test'],
    ['with our port', 'evil.test:8045'],
    ['localhost', 'localhost:8045'],
    ['another address of this machine', '127.0.0.1:8045'],
    ['our name in front of another', 'drawbridge.test.evil.test'],
    ['our name behind another', 'evil.drawbridge.test:8045'],
    ['our name with another port', 'drawbridge.test:8046'],
    ['our name with a trailing dot', 'drawbridge.test.:8045'],
    ['user information before our name', 'evil@drawbridge.test:8045'],
    ['our name as user information', 'drawbridge.test:8045@evil.test'],
    ['a path', 'drawbridge.test:8045/'],
    ['a query', 'drawbridge.test:8045?x'],
    ['a fragment', 'drawbridge.test:8045#x'],
    ['a backslash', 'drawbridge.test:8045\\evil.test'],
    ['an escape', 'drawbridge%2etest:8045'],
    ['a list', 'drawbridge.test:8045, evil.test'],
    ['a space', 'drawbridge.test:8045 evil.test'],
    ['a wide letter', 'drａwbridge.test:8045'],
    ['nothing', ''],
    ['a port too many', 'drawbridge.test:8045:8045'],
    ['an impossible port', 'drawbridge.test:99999'],
  ])('%s is refused', async (_name, host) => {
    const { statuses, body } = await ask(`Host: ${host}`)
    expect([statuses, body?.code]).toEqual([[421], 'host_not_allowed'])
  })

  test('is refused though the Origin agrees with it', async () => {
    const { statuses } = await ask('Host: evil.test', 'Origin: http://evil.test')
    expect(statuses).toEqual([421])
  })

  test('our own address on another port, or without its port, is not ours', async () => {
    for (const host of [`${api.network}.23`, `${api.network}.23:8046`, `${api.network}.25:8045`]) {
      expect((await ask(`Host: ${host}`)).statuses).toEqual([421])
    }
  })

  test('a proxy that forwards the name does not make it ours', async () => {
    const { statuses } = await ask('Host: evil.test', `X-Forwarded-Host: ${own}`)
    expect(statuses).toEqual([421])
  })

  test('guards every address, and comes before network, body and credential', async () => {
    for (const path of ['/', '/docs', '/api/openapi.json', '/nowhere', '/api/deploy/plans/x']) {
      const { status } = await api.call({ path, headers: { host: 'evil.test' } })
      expect(status).toBe(421)
    }
    for (const path of ['/api/deploy/plan', '/api/internal/token']) {
      const { status } = await api.call({ path, body: 'x', headers: { host: 'evil.test' }, from: 'outside' })
      expect(status).toBe(421)
    }
  })
})

describe('a request without one clear Host', () => {
  test.each([
    ['two of them, ours first', (host: string) => [`Host: ${host}`, 'Host: evil.test']],
    ['two of them, ours last', (host: string) => ['Host: evil.test', `Host: ${host}`]],
    ['ours twice', (host: string) => [`Host: ${host}`, `Host: ${host}`]],
  ])('%s is refused', async (_name, hosts) => {
    const { statuses, body } = await ask(...hosts(own))
    expect([statuses, body?.code]).toEqual([[421], 'host_not_allowed'])
  })

  test.each(['HTTP/1.0', 'HTTP/1.1'])('none at all in %s is refused as a problem', async (version) => {
    const { statuses, body } = await sendRaw(
      api.origin,
      `${api.network}.10`,
      `GET /api/policy ${version}\r\nConnection: close\r\n\r\n`,
    )
    expect([statuses, body?.code]).toEqual([[421], 'host_not_allowed'])
  })

  test('a request target with an authority of its own leads nowhere', async () => {
    for (const authority of ['evil.test', own]) {
      const first = `GET http://${authority}/api/policy HTTP/1.1`
      const { statuses, body } = await sendRaw(api.origin, `${api.network}.10`, rawRequest(api.origin, first))
      expect([statuses, body?.code]).toEqual([[404], 'not_found'])
    }
  })
})

describe('a Host that is ours', () => {
  test.each([
    'drawbridge.test:8045',
    'DrawBridge.TEST:8045',
    'drawbridge.test',
    'drawbridge.test:80',
    'bridge.example.test',
    'bridge.example.test:443',
  ])('%s is let in', async (host) => {
    expect((await ask(`Host: ${host}`)).statuses).toEqual([200])
  })

  test("the socket's own address and port is let in", async () => {
    expect((await ask(`Host: ${own}`)).statuses).toEqual([200])
  })
})
