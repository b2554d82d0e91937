import { appendFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { newestErrorClass } from '../../../src/estate/reading/error-lines.ts'
import type { ErrorClass } from '../../../src/model/evidence.ts'
import { type Backend, startBackend } from '../../support/backends/backend.ts'
import { listenFrozen } from '../../support/backends/listener.ts'
import { startNginx } from '../../support/edge/nginx.ts'
import { call } from '../../support/http/call.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

const ADDRESS = '127.0.0.1'
const site = (name: string, location: string, more = '') =>
  `server { listen ${ADDRESS}:${port}; server_name ${name}.test; ${more} location / { ${location} } }`
const passing = (to: { port: number }, more = '') => `proxy_pass http://${ADDRESS}:${to.port}; ${more}`

let port: number
let nginx: Awaited<ReturnType<typeof startNginx>>
const opened: AsyncDisposable[] = []

async function backend(talk: Parameters<typeof startBackend>[0]): Promise<Backend> {
  const started = await startBackend(talk)
  opened.push(started)
  return started
}

beforeAll(async () => {
  port = await freePort(ADDRESS)
  const closed = { port: await freePort(ADDRESS) }
  const frozen = { address: ADDRESS, port: await freePort(ADDRESS) }
  opened.push(await listenFrozen(frozen))
  const mute = await backend(() => undefined)
  const resetting = await backend((socket) => socket.resetAndDestroy())
  const closing = await backend((socket) => socket.end())
  const babbling = await backend((socket) => socket.end('\x15\x03\x03\x00\x02\x02\x46 no HTTP at all\r\n\r\n'))
  const text = [
    `upstream dead { server ${ADDRESS}:${closed.port} max_fails=1 fail_timeout=60s; server 127.0.0.2:${closed.port} max_fails=1 fail_timeout=60s; }`,
    `server { listen ${ADDRESS}:${port} default_server; return 204; }`,
    site('connection-refused', passing(closed)),
    site('connection-refused-socket', 'proxy_pass http://unix:/nonexistent.sock;'),
    site('connect-timeout', passing(frozen, 'proxy_connect_timeout 300ms;')),
    site('upstream-timeout', passing(mute, 'proxy_read_timeout 200ms;')),
    site('no-route', 'proxy_pass http://224.0.0.1:80;'), // The kernel refuses it at once: no packet leaves.
    site('upstream-reset', passing(resetting)),
    site('upstream-closed-early', passing(closing)),
    site('upstream-tls', `proxy_pass https://${ADDRESS}:${babbling.port};`),
    site('upstream-not-http', `${passing(babbling)} proxy_http_version 1.1;`),
    site('upstream-unresolved', 'set $name backend.invalid; proxy_pass http://$name;'),
    site('no-live-upstreams', 'proxy_pass http://dead;'),
    site('body-too-large', 'root /;', 'client_max_body_size 10;'),
    site('file-missing', 'root /nonexistent;'),
    site('other', 'deny all;'),
  ]
  nginx = await startNginx(text.join('\n'), `http://${ADDRESS}:${port}`)
})

afterAll(async () => {
  await nginx?.stop()
  for (const part of opened) await part[Symbol.asyncDispose]()
})

/** Whatever comes back: what is no HTTP is handed through. */
const ask = (host: string, body?: string) =>
  call(`http://${ADDRESS}:${port}`, { path: '/page', headers: { host }, from: ADDRESS, ...(body && { body }) }).catch(
    () => undefined,
  )

describe('an error of nginx itself is of the class', () => {
  test.each<[ErrorClass, string]>([
    ['connection_refused', 'connection-refused'],
    ['connection_refused', 'connection-refused-socket'],
    ['connect_timeout', 'connect-timeout'],
    ['upstream_timeout', 'upstream-timeout'],
    ['no_route', 'no-route'],
    ['upstream_reset', 'upstream-reset'],
    ['upstream_closed_early', 'upstream-closed-early'],
    ['upstream_tls', 'upstream-tls'],
    ['upstream_not_http', 'upstream-not-http'],
    ['upstream_unresolved', 'upstream-unresolved'],
    ['no_live_upstreams', 'no-live-upstreams'],
    ['body_too_large', 'body-too-large'],
    ['file_missing', 'file-missing'],
    ['other', 'other'],
  ])('%s: %s', async (expected, name) => {
    const before = Date.now()
    expect(await newestErrorClass(nginx, `${name}.test`)).toBeNull()
    await ask(`${name}.test:${port}`, name === 'body-too-large' ? 'x'.repeat(100) : undefined)
    if (name === 'no-live-upstreams') await ask(`${name}.test`)
    await until('nginx logs it', async () => (await newestErrorClass(nginx, `${name}.test`)) !== null)
    const found = await newestErrorClass(nginx, `${name}.test`)
    expect(found).toEqual({ errorClass: expected, at: expect.any(Number) })
    expect(found?.at).toBeGreaterThan(before - 2000)
    expect(await newestErrorClass(nginx, `${name}.test`, Date.now() + 60_000)).toBeNull()
  })
})

describe('the newest line counts', () => {
  const line = (level: string, message: string, host: string) =>
    `2026/03/04 05:06:07 [${level}] 12#12: *3 ${message}, client: 10.0.0.1, server: a.test, request: "GET / HTTP/1.1", host: "${host}"\n`
  const REFUSED = 'connect() failed (111: Connection refused) while connecting to upstream'
  const LATE = 'upstream timed out (110: Connection timed out) while reading response header from upstream'

  test.each<[string, string, ErrorClass | undefined]>([
    ['of this host', line('error', REFUSED, 'a.test') + line('error', LATE, 'b.test'), 'connection_refused'],
    ['of several', line('error', REFUSED, 'a.test') + line('error', LATE, 'A.TEST.:8443'), 'upstream_timeout'],
    ['not of a longer name', line('error', REFUSED, 'xa.test') + line('error', REFUSED, 'a.test.example'), undefined],
    [
      'that is an error',
      line('error', REFUSED, 'a.test') + line('warn', 'a body is buffered', 'a.test'),
      'connection_refused',
    ],
    [
      'of a file that may not be read',
      line('crit', 'open() "/x" failed (13: Permission denied)', 'a.test'),
      'permission_denied',
    ],
    [
      'whatever a path in it says',
      line('error', `open() "/${REFUSED}" failed (2: No such file or directory)`, 'a.test'),
      'file_missing',
    ],
    ['and half a line does not', `host: "a.test"\n`, undefined],
    [
      'at the end of a long log',
      line('error', LATE, 'b.test').repeat(5000) + line('error', REFUSED, 'a.test'),
      'connection_refused',
    ],
    ['and none too far back', line('error', REFUSED, 'a.test') + line('error', LATE, 'b.test').repeat(5000), undefined],
    ['an empty log has no newest error', '', undefined],
  ])('%s', async (_, text, expected) => {
    using folder = tempFolder()
    const errorLog = `${folder.path}/error.log`
    appendFileSync(errorLog, text)
    const found = await newestErrorClass({ errorLog }, 'a.test')
    expect(found?.errorClass).toBe(expected)
    if (found) expect(found.at).toBe(new Date(2026, 2, 4, 5, 6, 7).getTime())
  })

  test('a missing log has no newest error', async () => {
    expect(await newestErrorClass({ errorLog: '/nonexistent/error.log' }, 'a.test')).toBeNull()
  })
})
