import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { addressesAt, type Place } from '../../../lab/addresses.ts'
import { launcher } from '../../../lab/checkout.ts'
import { type Daemon, startDaemon } from '../../../lab/daemon.ts'
import { type Lab, startLab } from '../../../lab/lab.ts'
import { serviceConfig } from '../../../lab/service-config.ts'
import { statePaths } from '../../../lab/state.ts'
import { httpStatus } from '../../../lab/web-question.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { hostLease } from '../../../src/model/run.ts'
import { openStore } from '../../../src/store/open.ts'
import { eachExposure } from '../../../src/store/ports/exposures.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { serves, viewOf } from '../../support/edge/edge-folder.ts'
import { call } from '../../support/http/call.ts'
import { freePlace } from '../../support/lab/lab.ts'
import { type PostgresCluster, startPostgres } from '../../support/programs/postgres.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

const TAKE_OVER_SECONDS = 6

/** Directly before an effect of an apply. `npm run campaign -- takeover` stops an instance at all of these points. */
const BEFORE_EFFECTS = ['apply dns after-intent']
const OTHER_PAUSES = [
  'apply proxy before-swap',
  'apply backup after-intent',
  'apply proxy swapped',
  'apply verify after-intent',
  'apply verify after-effect',
]
const PAUSES = process.env.CAMPAIGN ? [...BEFORE_EFFECTS, ...OTHER_PAUSES] : BEFORE_EFFECTS

const folder = tempFolder()
let place: Place
let lab: Lab
let postgres: PostgresCluster
let store: Store

beforeAll(async () => {
  place = await freePlace()
  ;[lab, postgres] = await Promise.all([
    startLab({ state: join(folder.path, 'lab'), place, service: false }),
    startPostgres(),
  ])
  store = await openStore({ kind: 'postgres', url: postgres.url })
})
afterAll(async () => {
  await store?.close()
  await Promise.all([lab?.stop(), postgres?.stop()])
  folder[Symbol.dispose]()
})

interface Instance {
  readonly daemon: Daemon
  post(path: string, body: unknown, headers?: Record<string, string>): ReturnType<typeof call>
}

/** One of two services on one database, with its own address and state folder and the same edges and zone. */
async function startInstance(name: string, last: number, environment: Record<string, string> = {}): Promise<Instance> {
  const listen = { address: `${place.network}.${last}`, port: 8045 }
  const origin = `http://${listen.address}:${listen.port}`
  const paths = statePaths(lab.state)
  const config = {
    ...serviceConfig(addressesAt(place), paths, 'capability'),
    listen,
    stateDir: join(folder.path, name),
    store: postgres.url,
    storeKeyFile: join(folder.path, 'store.key'),
    instances: { takeOverSeconds: TAKE_OVER_SECONDS },
  }
  const configFile = join(folder.path, `${name}.yaml`)
  writeFileSync(configFile, stringify(config), { mode: 0o600 })
  const daemon = await startDaemon({
    name: `instance ${name}`,
    program: process.execPath,
    args: [launcher(), 'serve', '--config', configFile],
    logFile: join(folder.path, `${name}.log`),
    env: { ...process.env, ...environment },
    isReady: async () => (await httpStatus(`${origin}/readyz`)) === 200,
  })
  const from = lab.description.callers.internal
  return { daemon, post: (path, body, headers = {}) => call(origin, { path, body, headers, from }) }
}

test('another instance takes over the run of a dead instance, but only after its lease has expired', {
  timeout: 120_000,
}, async () => {
  const dying = await startInstance('first', 23, { DRAWBRIDGE_CRASH_AT: 'apply dns after-effect' })
  const living = await startInstance('second', 24)
  try {
    const request = { zone: 'lab.test', subdomain: 'heir', server: '25', port: 3000, health: '/healthz', tls: false }
    const { planId, host } = (await dying.post('/api/deploy/plan', request)).body
    const { capability } = (await dying.post('/api/internal/token', { planId })).body
    const right = { 'x-deploy-capability': capability }
    await expect(dying.post('/api/deploy/apply', { planId }, right)).rejects.toThrow()
    await dying.daemon.exited

    const [left] = await store.unfinishedRuns()
    const lease = await store.findLease(hostLease(host), Date.now())
    if (!left || !lease) throw new Error('The dead instance left no run.')
    expect((await living.post('/api/deploy/apply', { planId }, right)).body.code).toBe('capability_used')
    const before = await store.readJournal(left.runId, 0)
    await until('the other instance has ended the run', async () => (await store.unfinishedRuns()).length === 0, 45_000)
    const ended = await store.findRun(left.runId)
    expect(ended).toMatchObject({ state: 'rolled_back' })
    expect(ended?.holder).not.toBe(left.holder)
    expect(ended?.fence).toBeGreaterThan(left.fence)
    const entries = (await store.readJournal(left.runId, 0)).slice(before.length)
    expect(entries.map(({ mark }) => mark)).toContain('undo_intent')
    expect(entries.filter(({ at }) => at < lease.expiresAt)).toEqual([])

    expect(await store.findPlan(planId)).toMatchObject({ state: 'rolled_back' })
    expect(await Array.fromAsync(eachExposure(store))).toEqual([])
    const [name] = await dnsReader(lab.description.dns.primary).ask([{ name: host, type: 'A' }])
    expect(name).toMatchObject({ kind: 'answer', rcode: 'NXDOMAIN' })
    for (const edge of Object.values(lab.description.edges)) {
      expect([...viewOf(edge).hosts.keys()]).toEqual([])
      expect(await serves(edge, host)).toBe(false)
    }
    const again = (await living.post('/api/internal/token', { planId })).body.capability
    const answer = await living.post('/api/deploy/apply', { planId }, { 'x-deploy-capability': again })
    expect([answer.status, answer.body.state]).toEqual([200, 'applied'])
    expect(readFileSync(join(folder.path, 'second.log'), 'utf8')).toContain('"event":"run_recovered"')
  } finally {
    await Promise.all([dying.daemon.stop(), living.daemon.stop()])
  }
})

/** Whether the kernel has stopped a process. */
const isStopped = (pid: number): boolean => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

test.each(PAUSES)(
  'an instance that was stopped at "%s" past its lease does nothing when it continues',
  {
    timeout: 120_000,
  },
  async (point) => {
    const subdomain = `paused-${PAUSES.indexOf(point)}`
    const paused = await startInstance(`${subdomain}-a`, 23, { DRAWBRIDGE_STOP_AT: point })
    const living = await startInstance(`${subdomain}-b`, 24)
    try {
      const request = { zone: 'lab.test', subdomain, server: '25', port: 3000, health: '/healthz', tls: false }
      const { planId, host } = (await paused.post('/api/deploy/plan', request)).body
      const { capability } = (await paused.post('/api/internal/token', { planId })).body
      const answer = paused.post('/api/deploy/apply', { planId }, { 'x-deploy-capability': capability })
      answer.catch(() => undefined)
      const { pid } = paused.daemon
      await until('the instance has stopped', () => isStopped(pid))
      await until(
        'the other instance has ended the run',
        async () => (await store.unfinishedRuns()).length === 0,
        60_000,
      )
      const before = await stateOfWorld(host)
      process.kill(pid, 'SIGCONT')
      expect([(await answer).status, (await answer).body.code]).toEqual([503, 'unavailable'])
      expect(await stateOfWorld(host)).toEqual(before)
      expect(await store.findPlan(planId)).toMatchObject({ state: 'rolled_back' })
      expect(before).toEqual({ address: 'NXDOMAIN', hosts: [[], []], served: [false, false] })
    } finally {
      await Promise.all([paused.daemon.stop(), living.daemon.stop()])
    }
  },
)

async function stateOfWorld(host: string) {
  const edges = Object.values(lab.description.edges)
  const [name] = await dnsReader(lab.description.dns.primary).ask([{ name: host, type: 'A' }])
  return {
    address: name?.kind === 'answer' ? name.rcode : name?.kind,
    hosts: edges.map((edge) => [...viewOf(edge).hosts.keys()].filter((entry) => entry.startsWith('paused-'))),
    served: await Promise.all(edges.map((edge) => serves(edge, host))),
  }
}
