import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EdgeAnswer, EdgeVisitor } from '../../src/edge/contract.ts'
import type { EdgeMap, ServedHost } from '../../src/edge/reading/contract.ts'
import { createLog } from '../../src/log.ts'
import { Board } from '../../src/monitor/board.ts'
import { Monitor } from '../../src/monitor/monitor.ts'
import type { Store } from '../../src/store/contract.ts'
import { openStore } from '../../src/store/open.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { until } from '../support/until.ts'

/** Several instances on one real store; the edge and its hosts are made up. */
let folder: ReturnType<typeof tempFolder>
let instances: Instance[]
let served: string[]
let answer: EdgeAnswer

interface Instance {
  readonly store: Store
  readonly board: Board
  readonly monitor: Monitor
  readonly asked: string[]
}

beforeEach(() => {
  folder = tempFolder()
  instances = []
  served = ['a.lab.test', 'b.lab.test']
  answer = { kind: 'answer', httpStatus: 200, latencyMs: 3 }
})

afterEach(async () => {
  for (const { monitor, store } of instances) {
    await monitor.stop()
    await store.close()
  }
  folder[Symbol.dispose]()
})

async function start(instance: string, leaseMs = 30_000): Promise<Instance> {
  const store = await openStore({ kind: 'sqlite', file: join(folder.path, 'drawbridge.db') })
  const board = new Board()
  const asked: string[] = []
  const visitor: EdgeVisitor = {
    visit: async ({ host }) => {
      asked.push(host)
      return answer
    },
    forget: () => undefined,
    close: () => undefined,
  }
  const monitor = new Monitor({
    store,
    board,
    visitor,
    instance,
    leaseMs,
    edge: {
      reader: { read: async () => mapOf(served) },
      surroundings: {
        addresses: { 25: '127.0.45.25' },
        edge: { address: '127.0.45.23', ports: { http: 80, https: 443 } },
      },
    },
    compare: async () => ({ dns: null, file: null }),
    listenToRuns: () => () => undefined,
    onCheck: () => undefined,
    everyMs: 1_000,
    atOnce: 64,
    log: createLog('silent', []),
    now: Date.now,
  })
  monitor.start()
  const made = { store, board, monitor, asked }
  instances.push(made)
  return made
}

function mapOf(hosts: readonly string[]): EdgeMap {
  const blocks = hosts.map(
    (host): ServedHost => ({
      host,
      configPath: '/etc/nginx/nginx.conf',
      line: 1,
      listen: [{ address: '*', port: 80, tls: false, defaultServer: false }],
      tls: false,
      proxyPass: 'http://127.0.45.25:3000',
      unresolved: false,
      target: { protocol: 'http', host: '127.0.45.25', port: 3000 },
      furtherTargets: 0,
    }),
  )
  return {
    hosts: blocks,
    find: (host) => blocks.find((block) => block.host === host),
    answers: () => undefined,
    broken: [],
  }
}

const badges = ({ board }: Instance) => [...board.all()].map(({ host, badge }) => `${host} ${badge}`).sort()

test('one instance asks, the others see what it sees, and a host that goes is gone everywhere', async () => {
  const first = await start('one')
  await until('it asks', () => first.asked.length >= 2)
  const second = await start('two')
  await until('the other sees it', () => badges(second).join() === 'a.lab.test RUNNING,b.lab.test RUNNING')
  answer = { kind: 'no_answer', reason: 'refused' }
  await until('the other sees it go down', () => badges(second).join() === 'a.lab.test DOWN,b.lab.test DOWN')
  served = ['b.lab.test']
  await until('the other sees that it is gone', () => badges(second).join() === 'b.lab.test DOWN')
  expect(second.asked).toEqual([])
  const types = (await first.store.readEvents(0, 100)).map(({ type, host, facts }) => `${type} ${host} ${facts.badge}`)
  expect(types.toSorted()).toEqual([
    'host.badge a.lab.test DOWN',
    'host.badge a.lab.test RUNNING',
    'host.badge b.lab.test DOWN',
    'host.badge b.lab.test RUNNING',
  ])
})

test('when it stops, another one takes over at once, with the history', async () => {
  const first = await start('one')
  await until('it asks', () => first.asked.length >= 4)
  const second = await start('two')
  await first.monitor.stop()
  const kept = first.board.find('a.lab.test')?.history.latencies.length ?? 0
  await until('the other asks', () => second.asked.includes('a.lab.test'))
  expect(kept).toBeGreaterThan(0)
  expect(second.board.find('a.lab.test')?.history.latencies.length).toBeGreaterThan(kept)
  expect(second.board.find('a.lab.test')?.since).toBe(first.board.find('a.lab.test')?.since)
})

test('a store that does not answer keeps nobody from asking, and nothing that was seen is lost', async () => {
  const first = await start('one')
  await until('it asks', () => first.asked.length >= 2)
  const stored = async () => (await first.store.readHosts(-1)).map(({ badge }) => badge)
  await until('the store knows', async () => (await stored()).join() === 'RUNNING,RUNNING')
  const { transaction } = first.store
  first.store.transaction = async () => {
    throw new Error('no store')
  }
  answer = { kind: 'answer', httpStatus: 502, latencyMs: 1 }
  await until('the board knows', () => badges(first).join() === 'a.lab.test HTTP 502,b.lab.test HTTP 502')
  expect(await stored()).toEqual(['RUNNING', 'RUNNING'])
  first.store.transaction = transaction
  await until('the store knows now', async () => (await stored()).join() === 'HTTP 502,HTTP 502')
  const told = (await first.store.readEvents(0, 100)).filter(({ facts }) => facts.badge === 'HTTP 502')
  expect(told).toHaveLength(2)
})
