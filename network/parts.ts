import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { startBackends } from '../lab/backends.ts'
import { type NameServerOptions, startPrimaryBind, startSecondaryBind } from '../lab/bind.ts'
import { launcher } from '../lab/checkout.ts'
import { type Daemon, type DaemonOptions, launchDaemon, startDaemon } from '../lab/daemon.ts'
import { startNginx } from '../lab/nginx.ts'
import { startPebble } from '../lab/pebble.ts'
import { serviceDaemon } from '../lab/service.ts'
import { agentConfigFile, edgeOf, type Paths } from './paths.ts'
import {
  ACME,
  type AGENTS,
  addressOf,
  BACKENDS,
  DATABASE,
  DNS,
  EDGE_PORTS,
  INSTANCES,
  type MachineId,
  SERVICE_USER,
  ZONE,
} from './plan.ts'
import { startPostgres } from './postgres.ts'
import { asUser } from './users.ts'

export type Environment = Readonly<Record<string, string>>

/** How a part is started, on its machine. */
export interface Part {
  /** `environment`: variables for this start only. */
  readonly start: (isRestart: boolean, environment: Environment) => Promise<Daemon>
  /** It is started again when it dies. */
  readonly isSupervised: boolean
}

const once = (start: () => Promise<Daemon>): Part => ({ start, isSupervised: false })

/** The parts of all machines. Each may be started only by a process of its machine. */
export const partsIn = (paths: Paths): Readonly<Record<MachineId, Readonly<Record<string, Part>>>> => ({
  '23': {
    postgres: once(() => startPostgres(databaseOptions(paths))),
    named: once(() => startPrimaryBind(nameServer(paths, '23'), DNS.secondary)),
    nginx: once(() => startNginx(edgeOf(paths, '23'))),
    edge: agent(paths, '23'),
    service: service(paths, '23'),
  },
  '73': {
    named: once(() => startSecondaryBind(nameServer(paths, '73'), DNS.primary)),
    nginx: once(() => startNginx(edgeOf(paths, '73'))),
    edge: agent(paths, '73'),
  },
  '25': {
    backend: once(() => startBackends([BACKENDS['25']], paths.of('25', 'backend.log'))),
    service: service(paths, '25'),
  },
  '253': { backend: once(() => startBackends([BACKENDS['253']], paths.of('253', 'backend.log'))) },
  '10': {},
  ca: { pebble: once(() => startPebble(pebbleOptions(paths))) },
  public: {},
})

/** Restarted, it is not waited for: it may be waiting for its database or its edge, and is alive all the same. */
const supervised = (options: () => DaemonOptions): Part => ({
  start: (isRestart, environment) =>
    (isRestart ? launchDaemon : startDaemon)({ ...options(), env: { ...process.env, ...environment } }),
  isSupervised: true,
})

const service = (paths: Paths, machine: keyof typeof INSTANCES): Part =>
  supervised(() => {
    const files = { configFile: paths.of(machine, 'drawbridge.yaml'), logFile: paths.of(machine, 'service.log') }
    const { program, args, ...daemon } = serviceDaemon({ ...files, listen: INSTANCES[machine] })
    const command = asUser(SERVICE_USER.id, SERVICE_USER.id, { program, args })
    return { ...daemon, ...command, name: `The service on ${machine}`, killAfterMs: LONGEST_END_MS }
  })

/** It does not listen for other machines before it has joined. */
const agent = (paths: Paths, machine: keyof typeof AGENTS): Part =>
  supervised(() => {
    const logFile = paths.of(machine, 'edge.log')
    const begun = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
    return {
      name: `The agent on ${machine}`,
      program: process.execPath,
      args: [launcher(), 'edge', '--config', agentConfigFile(paths, machine)],
      logFile,
      isReady: async () => readFileSync(logFile).subarray(begun).includes('"edge_agent_started"'),
      killAfterMs: LONGEST_END_MS,
    }
  })

/** After SIGTERM a service or an agent finishes what it has begun. */
const LONGEST_END_MS = 40_000

const nameServer = (paths: Paths, machine: '23' | '73'): NameServerOptions => ({
  folder: paths.of(machine, 'named'),
  address: addressOf(machine),
  port: DNS.primary.port,
  zones: [{ name: ZONE, records: [] }],
  tsig: { ...TSIG, secret: readFileSync(paths.tsigSecret, 'utf8') },
  nameServers: [DNS.primary.address, DNS.secondary.address],
})

export const TSIG = { name: 'drawbridge.', algorithm: 'hmac-sha256' }

export const DATABASE_NAME = 'drawbridge'

const databaseOptions = (paths: Paths) => ({
  folder: paths.of('23', 'postgres'),
  ...DATABASE,
  name: DATABASE_NAME,
  passwordFile: paths.databasePassword,
  callers: Object.values(INSTANCES).map(({ address }) => address),
})

const pebbleOptions = (paths: Paths) => ({
  folder: paths.of('ca', 'pebble'),
  ...ACME,
  dns: DNS.primary,
  edgePorts: EDGE_PORTS,
  rootsFile: paths.ca,
})

/** The log of each part of a machine. */
export function logsOf(paths: Paths, machine: MachineId): Readonly<Record<string, string>> {
  const files: Readonly<Record<string, string>> = {
    postgres: join('postgres', 'postgres.log'),
    named: join('named', 'named.log'),
    nginx: join('nginx', 'logs', 'error.log'),
    pebble: join('pebble', 'pebble.log'),
  }
  const parts = Object.keys(partsIn(paths)[machine])
  return Object.fromEntries(parts.map((part) => [part, paths.of(machine, files[part] ?? `${part}.log`)]))
}
