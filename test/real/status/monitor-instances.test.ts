import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EdgeAnswer, EdgeVisitor } from '../../../src/edge/contract/visit.ts'
import type { EdgeMap, ServedHost } from '../../../src/edge/served.ts'
import type { Plan } from '../../../src/model/exposure.ts'
import { Board } from '../../../src/monitor/board.ts'
import { Monitor } from '../../../src/monitor/monitor.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { verifiedAnswer } from '../../../src/runs/steps/verify.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { samplePlan } from '../../contract/samples.ts'
import { takes } from '../../support/delay.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

const ENTRY = '/etc/nginx/drawbridge/current/backends/07.map'

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
      environment: {
        addresses: { 25: '127.0.45.25' },
        hostPath: () => ENTRY,
        isOurs: (path) => path === ENTRY,
        edge: { address: '127.0.45.23', ports: { http: 80, https: 443 } },
      },
    },
    compare: async () => ({ dns: null, file: null }),
    firstAnswer: verifiedAnswer,
    mayCheck: async () => true,
    onCheck: () => undefined,
    everyMs: 1_000,
    atOnce: 64,
    alertRule: () => ({ afterMs: 120_000, isMuted: false }),
    configuredMutes: () => new Map(),
    log: createLog('silent', []),
    clock: systemClock,
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
    rivals: () => [],
    broken: [],
    debugLogs: [],
    fingerprint: '',
    changedAt: 0,
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

/** Books an exposure as the end of an apply does. */
async function book(store: Store, subdomain: string): Promise<Plan> {
  const host = `${subdomain}.lab.test`
  const planId = `plan_${randomBytes(13).toString('hex')}`
  const plan = samplePlan({ planId, host, state: 'applied' })
  const primary = { server: '23', ok: true, detail: '', httpStatus: 200, latencyMs: 4 }
  const receipt = { version: 2 as const, files: [], records: [], verification: { primary, secondary: null } }
  await store.transaction(async (session) => {
    await session.insertPlan(plan)
    await session.insertExposure({ host, planId, state: 'applied', fence: 1, since: Date.now(), receipt })
    await session.appendEvent({ at: Date.now(), type: 'exposure.applied', host, planId, facts: {} })
  })
  return plan
}

async function unbook(store: Store, { host, planId }: Plan): Promise<void> {
  await store.transaction(async (session) => {
    await session.deleteExposure(host, planId, 1)
    await session.appendEvent({ at: Date.now(), type: 'exposure.removed', host, planId, facts: {} })
  })
}

test('an instance that reads along tells of exposures that others made and removed while nobody asks the hosts', async () => {
  served = []
  const first = await start('one')
  const old = await book(first.store, 'old')
  await until('it is told', () => badges(first).join() === `${old.host} RUNNING`)
  await first.monitor.stop()
  await first.store.takeLease('monitor', 'one that died', Date.now(), 60_000)
  const second = await start('two')
  await until('the other tells it', () => badges(second).join() === `${old.host} RUNNING`)
  const young = await book(first.store, 'young')
  await until('the apply is told', () => badges(second).includes(`${young.host} RUNNING`))
  expect(second.board.find(young.host)).toMatchObject({
    planId: young.planId,
    configPath: ENTRY,
    lastCheck: { ok: true, httpStatus: 200, latencyMs: 4 },
  })
  await unbook(first.store, old)
  await until('the removal is told', () => badges(second).join() === `${young.host} RUNNING`)
  expect(second.asked).toEqual([])
})

test('what was committed is told when publish resolves, whatever is read, listed or written meanwhile', async () => {
  served = []
  const [first, second] = [await start('one'), await start('two')]
  await until('it asks', async () => (await first.store.findLease('monitor', Date.now())) !== undefined)
  const wrong: string[] = []
  for (let round = 0; round < 24; round += 1) {
    const { monitor, board, store } = round % 2 ? second : first
    const subdomain = `round-${round}`
    const plan = await monitor.publish(`${subdomain}.lab.test`, () => book(store, subdomain))
    const isTold = () => board.find(plan.host)?.badge
    if (isTold() !== 'RUNNING') wrong.push(`${plan.host} is ${isTold()} after its apply`)
    await takes(round * 6)
    if (!isTold()) wrong.push(`${plan.host} is forgotten`)
    await monitor.publish(plan.host, () => unbook(store, plan))
    if (isTold()) wrong.push(`${plan.host} is told after its removal`)
    await takes(round * 3)
    if (isTold()) wrong.push(`${plan.host} is told again`)
  }
  expect(wrong).toEqual([])
})

test('a read waits for what is being committed', async () => {
  const { monitor, board, store } = await start('one')
  served = []
  let commit: () => void = () => undefined
  const committing = new Promise<void>((resolve) => {
    commit = resolve
  })
  const published = monitor.publish('late.lab.test', async () => {
    await committing
    return book(store, 'late')
  })
  const read = monitor.upToDate('late.lab.test').then(() => board.find('late.lab.test')?.badge)
  const other = monitor.upToDate('another.lab.test').then(() => 'did not wait')
  expect(await other).toBe('did not wait')
  commit()
  await published
  expect(await read).toBe('RUNNING')
})
