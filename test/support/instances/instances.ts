import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { addressesAt, type Place } from '../../../lab/addresses.ts'
import { launcher } from '../../../lab/checkout.ts'
import { type Daemon, startDaemon } from '../../../lab/daemon.ts'
import { type Lab, startLab } from '../../../lab/lab.ts'
import { serviceConfig } from '../../../lab/service-config.ts'
import { statePaths } from '../../../lab/state.ts'
import { httpStatus } from '../../../lab/web-question.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/ports/store.ts'
import { type Answer, call } from '../http/call.ts'
import { type LabAgents, startAgents } from '../lab/agents.ts'
import { freePlace } from '../lab/lab.ts'
import { borrowPostgres, type PostgresCluster } from '../programs/postgres.ts'
import { tempFolder } from '../temp-folder.ts'

/** A lab without a service, an agent for each edge, a PostgreSQL, and any number of services on them. */
export interface InstanceLab {
  readonly lab: Lab
  readonly agents: LabAgents
  readonly postgres: PostgresCluster
  /** The store of all instances, opened by the test. */
  readonly store: Store
  readonly folder: string
  start(name: string, last: number, options?: StartOptions): Promise<RunningInstance>
  stop(): Promise<void>
}

interface StartOptions {
  readonly environment?: Record<string, string>
  readonly settings?: Record<string, unknown>
}

export interface RunningInstance {
  readonly daemon: Daemon
  readonly origin: string
  readonly stateDir: string
  get(path: string): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  log(): string
}

/** Another service may run beside on a busy machine. */
const READY_MS = 60_000
/** Tests ask again and again from one address. */
const BUDGET = { plan: 100_000, diagnose: 100_000, read: 100_000, failedCredential: 100_000 }

export async function startInstanceLab(): Promise<InstanceLab> {
  const folder = tempFolder()
  const place = await freePlace()
  const postgres = await borrowPostgres()
  const lab = await startLab({ state: join(folder.path, 'lab'), place, service: false }).catch(
    async (error: unknown) => {
      await postgres.stop()
      folder[Symbol.dispose]()
      throw error
    },
  )
  const agents = await startAgents(lab).catch(async (error: unknown) => {
    await Promise.all([lab.stop(), postgres.stop()])
    folder[Symbol.dispose]()
    throw error
  })
  const store = await openStore({ kind: 'postgres', url: postgres.url })
  const running: RunningInstance[] = []
  return {
    lab,
    agents,
    postgres,
    store,
    folder: folder.path,
    async start(name, last, options) {
      const instance = await startInstance(
        { lab, agents, place, url: postgres.url, folder: folder.path },
        name,
        last,
        options,
      )
      running.push(instance)
      return instance
    },
    async stop() {
      await Promise.all(running.map(({ daemon }) => daemon.stop()))
      await store.close().catch(() => undefined)
      await agents.stop()
      await Promise.all([lab.stop(), postgres.stop()])
      folder[Symbol.dispose]()
    },
  }
}

interface Ground {
  readonly lab: Lab
  readonly agents: LabAgents
  readonly place: Place
  readonly url: string
  readonly folder: string
}

async function startInstance(
  { lab, agents, place, url, folder }: Ground,
  name: string,
  last: number,
  { environment = {}, settings = {} }: StartOptions = {},
): Promise<RunningInstance> {
  const listen = { address: `${place.network}.${last}`, port: 8045 }
  const origin = `http://${listen.address}:${listen.port}`
  const stateDir = join(folder, name)
  const config = {
    ...agents.configure(serviceConfig(addressesAt(place), statePaths(lab.state), 'capability')),
    ...{
      listen,
      stateDir,
      store: url,
      storeKeyFile: join(folder, 'store.key'),
      rateLimits: { internal: BUDGET },
      ...settings,
    },
  }
  const configFile = join(folder, `${name}.yaml`)
  const logFile = join(folder, `${name}.log`)
  writeFileSync(configFile, stringify(config), { mode: 0o600 })
  const daemon = await startDaemon({
    name: `instance ${name}`,
    program: process.execPath,
    args: [launcher(), 'serve', '--config', configFile],
    logFile,
    env: { ...process.env, ...environment },
    isReady: async () => (await httpStatus(`${origin}/readyz`)) === 200,
    readyWithinMs: READY_MS,
  })
  const from = lab.description.callers.internal
  return {
    daemon,
    origin,
    stateDir,
    get: (path) => call(origin, { path, from }),
    post: (path, body, headers = {}) => call(origin, { path, body, headers, from }),
    log: () => readFileSync(logFile, 'utf8'),
  }
}

export interface Granted {
  readonly planId: string
  readonly host: string
  readonly right: { readonly 'x-deploy-capability': string }
}

/** A plan without TLS, and a capability to apply it. */
export async function grantedPlan(instance: RunningInstance, subdomain: string): Promise<Granted> {
  const request = { zone: 'lab.test', subdomain, server: '25', port: 3000, health: '/healthz', tls: false }
  const planned = await instance.post('/api/deploy/plan', request)
  if (planned.status !== 201) throw new Error(`The plan was refused: ${JSON.stringify(planned.body)}`)
  const { planId, host } = planned.body
  const { capability } = (await instance.post('/api/internal/token', { planId })).body
  return { planId, host, right: { 'x-deploy-capability': capability } }
}
