import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Endpoint } from '../model/address.ts'
import { type AcmeSetting, readAcme } from './acme.ts'
import { type Edges, readEdges } from './edges.ts'
import { type RateLimits, readRateLimits } from './rate-limits.ts'
import { type RenewalSettings, readRenewal } from './renewal.ts'
import { readSecretFile, Secret } from './secret.ts'
import { ConfigError, openConfiguration, type Section } from './section.ts'
import { readServers, type Servers } from './servers.ts'
import * as value from './values.ts'
import { readWebhooks, type Webhook } from './webhooks.ts'
import { readZones, type Zone } from './zones.ts'

type StoreSetting = { kind: 'sqlite'; file: string } | { kind: 'postgres'; url: Secret }

export interface Config {
  readonly listen: Endpoint & { readonly tls?: { certificateFile: string; keyFile: string } | undefined }
  readonly publicUrls: readonly string[]
  readonly internalNetworks: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly flow: 'capability' | 'legacy'
  /** `internal`: the administrator token stands in for a capability on the internal network (capability flow). */
  readonly adminToken: 'off' | 'internal'
  /** Undefined when none is configured or it is empty: then no token is ever right. */
  readonly adminTokenValue: Secret | undefined
  readonly stateDir: string
  readonly store: StoreSetting
  /** How long an instance may give no sign of life before another one takes up its runs. */
  readonly instances: { readonly takeOverSeconds: number }
  readonly servers: Servers
  readonly edge: { readonly http: number; readonly https: number }
  readonly edges: Edges
  readonly zones: ReadonlyMap<string, Zone>
  readonly resolver: Endpoint | undefined
  readonly acme: AcmeSetting
  readonly certificates: readonly string[]
  readonly renewal: RenewalSettings
  readonly plan: { readonly ttlSeconds: number }
  readonly ports: { readonly allowed: readonly (readonly [number, number])[] }
  readonly rateLimits: RateLimits
  readonly webhooks: readonly Webhook[]
  /** How often hosts are checked, how long each may take, how many at a time. */
  /** Who may know of hosts that stand in the edge's own configuration and were not made here. */
  readonly status: { readonly showUnmanaged: 'internal' | 'public' }
  readonly monitor: { readonly everySeconds: number; readonly timeoutSeconds: number; readonly atOnce: number }
  readonly backups: { readonly keepRuns: number }
  readonly retention: { readonly planDays: number; readonly auditDays: number; readonly eventDays: number }
  readonly log: { readonly level: string }
}

type Environment = Readonly<Record<string, string | undefined>>

export function loadConfig(file: string, environment: Environment): Config {
  return readConfig(readFile(file), file, environment)
}

/** The whole configuration, or one ConfigError that lists every fault. Paths are relative to the file's folder. */
export function readConfig(text: string, file: string, environment: Environment): Config {
  const { root, faults } = openConfiguration(text, file)
  const path: typeof value.text = (given) => {
    const relative = value.text(given)
    return relative === undefined ? undefined : resolve(dirname(file), relative)
  }
  const stateDir = root.read('stateDir', '/var/lib/drawbridge', path, 'the path of a folder')
  const servers = readServers(root.section('servers'))
  const acme = readAcme(root.section('acme'), path)
  const config: Config = {
    listen: readListen(root.section('listen'), path),
    publicUrls: root.list('publicUrls', [], value.origin, 'http:// or https:// addresses without a path'),
    internalNetworks: root.list(
      'internalNetworks',
      ['192.168.45.0/24'],
      value.network,
      'networks such as 192.168.45.0/24',
    ),
    trustedProxies: root.list('trustedProxies', [], value.address, 'single IP addresses'),
    flow: root.read('flow', 'capability', value.oneOf('capability', 'legacy'), 'capability or legacy'),
    adminToken: root.read('adminToken', 'off', value.oneOf('off', 'internal'), 'off or internal'),
    adminTokenValue: readAdminToken(root, path, environment),
    stateDir,
    store: readStore(root, path, environment, stateDir),
    instances: {
      takeOverSeconds: root
        .section('instances')
        .read('takeOverSeconds', 30, value.whole(3, 3_600), 'whole seconds, 3 to 3600'),
    },
    servers,
    edge: readEdge(root.section('edge')),
    edges: readEdges(root, path, servers),
    zones: readZones(root, { path, environment, challenge: acme.challenge }),
    resolver: root.read('resolver', undefined, value.endpoint(53), 'an IP address, with :port where it is not 53'),
    acme,
    certificates: root.list('certificates', [], path, 'paths of folders'),
    renewal: readRenewal(root.section('renewal')),
    plan: {
      ttlSeconds: root
        .section('plan')
        .read('ttlSeconds', 86_400, value.whole(60, 31_536_000), 'whole seconds, 60 to 31536000'),
    },
    ports: {
      allowed: root
        .section('ports')
        .list('allowed', DEFAULT_PORTS, value.portRange, 'ports (80) or ranges (1024-65535)'),
    },
    rateLimits: readRateLimits(root.section('rateLimits')),
    webhooks: readWebhooks(root, { path, environment }),
    status: {
      showUnmanaged: root
        .section('status')
        .read('showUnmanaged', 'internal', value.oneOf('internal', 'public'), 'internal or public'),
    },
    monitor: readMonitor(root.section('monitor')),
    backups: {
      keepRuns: root
        .section('backups')
        .read('keepRuns', 50, value.whole(1, 10_000), 'a whole number of runs, 1 to 10000'),
    },
    retention: readRetention(root.section('retention')),
    log: { level: root.section('log').read('level', 'info', value.oneOf(...LOG_LEVELS), LOG_LEVELS.join(', ')) },
  }
  root.close()
  if (faults.length > 0) throw new ConfigError(faults)
  return deepFreeze(config)
}

const DEFAULT_PORTS: readonly (readonly [number, number])[] = [
  [80, 80],
  [443, 443],
  [1024, 65_535],
]
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

type PathParse = typeof value.text

function readListen(section: Section, path: PathParse): Config['listen'] {
  const tls = section.section('tls')
  const listen = {
    address: section.read('address', '0.0.0.0', value.address, 'an IP address of this machine'),
    port: section.read('port', 8045, value.port, 'a port, 1 to 65535'),
  }
  if (!section.has('tls')) return listen
  const certificateFile = tls.required('certificateFile', path, '', 'the path of a PEM file')
  const keyFile = tls.required('keyFile', path, '', 'the path of a PEM file')
  return { ...listen, tls: { certificateFile, keyFile } }
}

function readAdminToken(root: Section, path: PathParse, environment: Environment): Secret | undefined {
  const file = root.read('adminTokenFile', undefined, path, 'the path of a file')
  const secret = file === undefined ? new Secret(environment.DRAWBRIDGE_ADMIN_TOKEN ?? '') : readSecretFile(file)
  if (typeof secret === 'string') {
    root.refuse('adminTokenFile', secret)
    return undefined
  }
  return secret.reveal() === '' ? undefined : secret
}

function readStore(root: Section, path: PathParse, environment: Environment, stateDir: string): StoreSetting {
  const file = root.read('storeFile', undefined, path, 'the path of a file')
  const inline = root.read('store', undefined, value.text, 'sqlite or postgres://user@host/database')
  const secret =
    file === undefined ? new Secret(environment.DRAWBRIDGE_STORE ?? inline ?? 'sqlite') : readSecretFile(file)
  if (typeof secret === 'string') root.refuse('storeFile', secret)
  else if (isPostgresUrl(secret.reveal())) return { kind: 'postgres', url: secret }
  else if (secret.reveal() !== 'sqlite')
    root.refuse('store', 'is not allowed; allowed: sqlite or postgres://user@host/database')
  return { kind: 'sqlite', file: resolve(stateDir, 'drawbridge.db') }
}

/** Whatever cannot be read as a URL is refused here, without showing it: the error of whoever tried later would. */
function isPostgresUrl(text: string): boolean {
  try {
    decodeURIComponent(new URL(text).password)
    return /^postgres(ql)?:\/\//.test(text)
  } catch {
    return false
  }
}

function readEdge(section: Section): Config['edge'] {
  return {
    http: section.read('http', 80, value.port, 'a port, 1 to 65535'),
    https: section.read('https', 443, value.port, 'a port, 1 to 65535'),
  }
}

function readMonitor(section: Section): Config['monitor'] {
  return {
    everySeconds: section.read('everySeconds', 30, value.whole(1, 3_600), 'whole seconds, 1 to 3600'),
    timeoutSeconds: section.read('timeoutSeconds', 3, value.whole(1, 60), 'whole seconds, 1 to 60'),
    atOnce: section.read('atOnce', 64, value.whole(1, 1_000), 'a whole number, 1 to 1000'),
  }
}

function readRetention(section: Section): Config['retention'] {
  const days = value.whole(1, 36_500)
  return {
    planDays: section.read('planDays', 30, days, 'whole days, 1 to 36500'),
    auditDays: section.read('auditDays', 365, days, 'whole days, 1 to 36500'),
    eventDays: section.read('eventDays', 30, days, 'whole days, 1 to 36500'),
  }
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw new ConfigError([`${file}: the configuration cannot be read (${reason}); name it with --config`])
  }
}

function deepFreeze<T>(target: T): T {
  if (typeof target !== 'object' || target === null || target instanceof Secret) return target
  for (const member of Object.values(target)) deepFreeze(member)
  return Object.freeze(target)
}
