import { expect, test } from 'vitest'
import type { ServedHost, ServedMap } from '../../../src/edge/served.ts'
import type { HostStatus } from '../../../src/model/host-status.ts'
import { Board } from '../../../src/monitor/board.ts'
import { WatchList } from '../../../src/monitor/watch-list.ts'
import { storeOfTest } from '../../support/fresh.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'

const served = (host: string): ServedHost => ({
  ...{ host, configPath: `/etc/nginx/${host}.conf`, line: 1, tls: false, unresolved: false, furtherTargets: 0 },
  listen: [{ address: '*', port: 80, tls: false, defaultServer: false }],
  proxyPass: 'http://192.168.45.25:3000',
  target: { protocol: 'http', host: '192.168.45.25', port: 3000 },
})
const mapOf = (...names: readonly string[]): ServedMap => {
  const hosts = names.map(served)
  return {
    hosts,
    patterns: [],
    broken: [],
    debugLogs: [],
    fingerprint: '',
    changedAt: 0,
    find: (name) => hosts.find(({ host }) => host === name),
  }
}

test('a host that comes to the edge is listed also while the clock is set back', async () => {
  const { store } = await storeOfTest()
  const board = new Board()
  const clock = new VirtualClock()
  let map = mapOf('a.test')
  const watchList = new WatchList({
    ...{ store, board, clock, everyMs: 30_000, firstAnswer: () => undefined, reader: { read: async () => map } },
    writer: { put: (status: HostStatus) => board.put(status), remove: (host: string) => board.remove(host) } as never,
    environment: {
      addresses: {},
      hostPath: () => '',
      isOurs: () => false,
      edge: { address: '192.168.45.23', ports: { http: 80, https: 443 } },
    },
  })
  const hosts = () => [...board.all()].map(({ host }) => host)
  await watchList.refresh()
  expect(hosts()).toEqual(['a.test'])
  map = mapOf('a.test', 'b.test')
  clock.setBack(7_200_000)
  await clock.advance(5_000)
  await watchList.refresh()
  expect(hosts()).toEqual(['a.test', 'b.test'])
})
