import { expect, test } from 'vitest'
import type { ServedHost } from '../../../src/edge/served.ts'
import type { PlanState } from '../../../src/model/exposure.ts'
import { type WatchedExposure, watchedHosts } from '../../../src/monitor/watched.ts'

const environment = {
  addresses: { '23': '192.168.45.23', '25': '192.168.45.25' },
  hostPath: () => '/etc/nginx/drawbridge/current/backends/07.map',
  isOurs: (path: string) => path.startsWith('/etc/nginx/drawbridge/current/'),
  edge: { address: '192.168.45.23', ports: { http: 80, https: 443 } },
}
const served = (host: string, target: string | null, tls = false): ServedHost => ({
  host,
  configPath: `/etc/nginx/${host}.conf`,
  line: 1,
  listen: [{ address: '*', port: tls ? 443 : 80, tls, defaultServer: false }],
  tls,
  proxyPass: target && `http://${target}:3000`,
  unresolved: false,
  target: target === null ? null : { protocol: 'http', host: target, port: 3000 },
  furtherTargets: 0,
})
const held = (host: string, state: PlanState): WatchedExposure => ({
  host,
  planId: `plan_${host}`,
  state,
  expiresAt: 7,
  server: '25',
  port: 3000,
  tls: true,
  health: '/healthz',
  proof: 'ab'.repeat(32),
})
const watched = (hosts: readonly ServedHost[], ours: readonly WatchedExposure[]) => [
  ...watchedHosts(
    { hosts, find: (name) => hosts.find(({ host }) => host === name) },
    new Map(ours.map((one) => [one.host, one])),
    environment,
  ),
]

test('an exposure is asked by its own plan, even where its file is gone', () => {
  const ours = [held('a.test', 'applied'), held('b.test', 'applied')]
  const [there, gone] = watched([served('a.test', '192.168.45.25', true)], ours)
  expect(there).toMatchObject({
    ...{ host: 'a.test', managed: true, configPath: '/etc/nginx/a.test.conf', path: '/healthz', tls: true },
    ...{ server: '25', address: '192.168.45.25', planId: 'plan_a.test', expiresAt: 7 },
    listenAddress: { address: '192.168.45.23', port: 443 },
  })
  expect(gone).toMatchObject({ host: 'b.test', managed: true, configPath: null, server: '25' })
})

test('an exposure is watched from its apply on, until it is removed', () => {
  const isWatched = (state: PlanState) =>
    watched([served('a.test', '192.168.45.25')], [held('a.test', state)]).length === 1
  expect((['applying', 'applied', 'removing', 'blocked'] as const).map(isWatched)).toEqual([false, true, true, true])
})

test('any other host is asked for / and told by where it proxies to', () => {
  const hosts = [served('a.test', '192.168.45.25'), served('b.test', '10.0.0.9'), served('c.test', null)]
  const [known, unknown, nowhere] = watched(hosts, [])
  expect(known).toMatchObject({ managed: false, path: '/', server: '25', planId: null, tls: false })
  expect(unknown).toMatchObject({ server: null, address: '10.0.0.9' })
  expect(nowhere).toMatchObject({ server: null, address: null })
})

test('a name that nobody can ask for is not watched', () =>
  expect(watched([served('under_score', '10.0.0.9'), served('-a.test', '10.0.0.9')], [])).toEqual([]))

test.each([
  [['*'], undefined, '192.168.45.23'],
  [['app.internal'], 'name', '192.168.45.23'],
  [['app.internal', '10.0.0.7'], undefined, '10.0.0.7'],
  [['app.internal', '[::1]'], undefined, '::1'],
  [['unix:/run/x.sock'], 'unix_socket', '192.168.45.23'],
  [['unix:/run/x.sock', 'app.internal'], 'name', '192.168.45.23'],
  [['unix:/run/x.sock', '*'], undefined, '192.168.45.23'],
  [['10.0.0.8 proxied'], 'proxy_protocol', '10.0.0.8'],
  [['app.internal', '* proxied'], 'proxy_protocol', '192.168.45.23'],
  [['10.0.0.8 proxied', '10.0.0.7'], undefined, '10.0.0.7'],
  [['10.0.0.8 quic'], 'quic', '10.0.0.8'],
  [['10.0.0.8 quic', '10.0.0.7'], undefined, '10.0.0.7'],
])('a host that listens at %s: why it cannot be asked is %s', (addresses, listenGap, address) => {
  const listen = addresses.map((one) => ({
    ...{ address: one.replace(/ .*/, ''), tls: false, defaultServer: false },
    ...(one.endsWith(' quic') && { quic: true as const }),
    ...(one.endsWith(' proxied') && { proxyProtocol: true as const }),
    port: one.startsWith('unix:') ? null : 80,
  }))
  const [host] = watched([{ ...served('a.test', null), listen }], [])
  expect(host).toMatchObject({ host: 'a.test', listenGap, listenAddress: { address, port: 80 } })
})
