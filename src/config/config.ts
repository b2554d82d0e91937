import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type StaticDecode, Type } from 'typebox'
import type { Endpoint } from '../model/address.ts'
import { type AcmeSetting, acmeSchema, readAcme } from './acme.ts'
import { type Alerts, alertsSchema, readAlerts } from './alerts.ts'
import { ConfigDocument, ConfigError } from './document.ts'
import { checkNamedFiles, type NamedFiles, namedFilesSchema } from './named-files.ts'
import { readSecretFile, Secret, type SecretSources } from './secret.ts'
import {
  type Agents,
  defaultEdges,
  type Edges,
  edgesSchema,
  readEdges,
  readServers,
  type Servers,
  serversSchema,
} from './servers.ts'
import { readStatus, type StatusSetting, statusSchema } from './status.ts'
import * as value from './values.ts'
import { readWebhooks, type Webhook, webhooksSchema } from './webhooks.ts'
import { readZones, type Zone, zonesSchema } from './zones.ts'

type StoreSetting = { kind: 'sqlite'; file: string } | { kind: 'postgres'; url: Secret }

export interface Config {
  readonly listen: Endpoint & { readonly tls?: { certificateFile: string; keyFile: string } | undefined }
  readonly publicUrls: readonly string[]
  readonly internalNetworks: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly flow: 'capability' | 'legacy'
  /** `internal`: the administrator token replaces a capability on the internal network (capability flow). */
  readonly adminToken: 'off' | 'internal'
  /** Undefined if no token is configured or it is empty. Then no token is valid. */
  readonly adminTokenValue: Secret | undefined
  readonly stateDir: string
  /** Files for the options of exposures. An edge with an agent has its own. */
  readonly options: NamedFiles
  /** Whether hand-written sites may be taken under management. */
  readonly adopt: { readonly enabled: boolean }
  readonly store: StoreSetting
  /** Has the keys of the secrets in the store. All instances on one store need the same file. */
  readonly storeKeyFile: string
  /** The time without a sign of life after which another instance takes over the runs of an instance. */
  readonly instances: { readonly takeOverSeconds: number }
  readonly servers: Servers
  readonly edge: { readonly http: number; readonly https: number }
  /** Edges that this service changes itself. */
  readonly edges: Edges
  /** Edges that it changes through their agents. */
  readonly agents: Agents
  readonly zones: ReadonlyMap<string, Zone>
  readonly resolver: Endpoint | undefined
  readonly acme: AcmeSetting
  readonly certificates: readonly string[]
  /** When certificates are checked. Each is due by its own lifetime. */
  readonly renewal: {
    readonly checkEverySeconds: number
    /** The pause after the first failure. Each further failure doubles it. */
    readonly retryFirstSeconds: number
    readonly retryCapSeconds: number
  }
  readonly plan: { readonly ttlSeconds: number }
  readonly ports: { readonly allowed: readonly (readonly [number, number])[] }
  /** Requests per address and minute. */
  readonly rateLimits: Readonly<
    Record<'public' | 'internal', Readonly<Record<'plan' | 'diagnose' | 'read' | 'failedCredential', number>>>
  >
  readonly webhooks: readonly Webhook[]
  readonly status: StatusSetting
  /** The interval and timeout of checks, and how many run at the same time. */
  readonly monitor: { readonly everySeconds: number; readonly timeoutSeconds: number; readonly atOnce: number }
  readonly alerts: Alerts
  readonly backups: { readonly keepRuns: number }
  readonly retention: { readonly planDays: number; readonly auditDays: number; readonly eventDays: number }
  readonly log: { readonly level: string }
  /** The path of the configuration file. Commands on the server need it. */
  readonly file: string
}

type Environment = Readonly<Record<string, string | undefined>>

const budget = (plan: number, diagnose: number, read: number, failedCredential: number) => {
  const requests = (fallback: number) => value.whole(1, 1_000_000, fallback, 'a whole number of requests per minute')
  return Type.Object({
    plan: requests(plan),
    diagnose: requests(diagnose),
    read: requests(read),
    failedCredential: requests(failedCredential),
  })
}
const days = (fallback: number) => value.whole(1, 36_500, fallback, 'whole days')

/** Every setting of the file. Relative paths are resolved against `folder`. */
export const configSchema = (folder: string) =>
  Type.Object({
    listen: Type.Object({
      address: value.address('an IP address of this machine', '0.0.0.0'),
      port: value.port(8045),
      tls: Type.Optional(
        Type.Object({
          certificateFile: value.path(folder, 'the path of a PEM file'),
          keyFile: value.path(folder, 'the path of a PEM file'),
        }),
      ),
    }),
    publicUrls: Type.Array(value.origin, { default: [] }),
    internalNetworks: Type.Array(value.network, { default: ['192.168.45.0/24'] }),
    trustedProxies: Type.Array(value.address('single IP addresses'), { default: [] }),
    flow: value.oneOf(['capability', 'legacy'], 'capability'),
    adminToken: value.oneOf(['off', 'internal'], 'off'),
    adminTokenFile: Type.Optional(value.path(folder, 'the path of a file')),
    stateDir: value.path(folder, 'the path of a folder', '/var/lib/drawbridge'),
    store: Type.Optional(value.text('sqlite or postgres://user@host/database')),
    storeFile: Type.Optional(value.path(folder, 'the path of a file')),
    storeKeyFile: Type.Optional(value.path(folder, 'the path of a file')),
    instances: Type.Object({ takeOverSeconds: Type.Optional(value.seconds(3, 3_600)) }),
    servers: serversSchema,
    edge: Type.Object({ http: value.port(80), https: value.port(443) }),
    edges: edgesSchema(folder),
    options: namedFilesSchema(folder),
    adopt: Type.Object({ enabled: value.truth(false) }),
    zones: zonesSchema(folder),
    resolver: Type.Optional(value.dnsServer('an IP address, with :port where it is not 53')),
    acme: acmeSchema(folder),
    certificates: Type.Array(value.path(folder, 'paths of folders'), { default: [] }),
    renewal: Type.Object({
      checkEverySeconds: value.seconds(1, 86_400, 60),
      retryFirstSeconds: value.seconds(1, 86_400, 300),
      retryCapSeconds: value.seconds(1, 86_400, 21_600),
    }),
    plan: Type.Object({ ttlSeconds: value.seconds(60, 31_536_000, 86_400) }),
    ports: Type.Object({ allowed: Type.Array(value.portRange, { default: ['80', '443', '1024-65535'] }) }),
    rateLimits: Type.Object({ public: budget(30, 30, 300, 10), internal: budget(1200, 1200, 1200, 1200) }),
    webhooks: webhooksSchema(folder),
    status: statusSchema,
    monitor: Type.Object({
      everySeconds: value.seconds(1, 3_600, 30),
      timeoutSeconds: value.seconds(1, 60, 3),
      atOnce: value.whole(1, 1_000, 64, 'a whole number'),
    }),
    alerts: alertsSchema,
    backups: Type.Object({ keepRuns: value.whole(1, 10_000, 50, 'a whole number of runs') }),
    retention: Type.Object({ planDays: days(30), auditDays: days(365), eventDays: days(30) }),
    log: Type.Object({
      level: value.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    }),
  })

type ConfigFile = StaticDecode<ReturnType<typeof configSchema>>

export function loadConfig(file: string, environment: Environment): Config {
  return readConfig(readFile(file), file, environment)
}

/** The state folder that the text names. Reads no other file. Throws a ConfigError with all faults of form. */
export const stateDirIn = (text: string, file: string): string =>
  new ConfigDocument(text, file).read(configSchema(dirname(file))).stateDir

/** The whole configuration. Throws one ConfigError with all faults of form, or else all faults of content. */
export function readConfig(text: string, file: string, environment: Environment): Config {
  const document = new ConfigDocument(text, file)
  const folder = dirname(file)
  const { adminTokenFile, store, storeFile, ...settings } = document.read(configSchema(folder))
  const sources: SecretSources = { document, environment }
  const servers = readServers(settings.servers, document)
  const acme = readAcme(settings.acme, document)
  const named = checkNamedFiles(settings.options, document)
  const storeSetting = readStore({ store, storeFile }, settings.stateDir, sources)
  const config: Config = {
    ...settings,
    adminTokenValue: readAdminToken(adminTokenFile, sources),
    store: storeSetting,
    storeKeyFile: settings.storeKeyFile ?? resolve(settings.stateDir, 'store.key'),
    instances: { takeOverSeconds: settings.instances.takeOverSeconds ?? TAKE_OVER_SECONDS[storeSetting.kind] },
    servers,
    ...readEdges(settings.edges ?? defaultEdges(folder, servers, document), servers, named, document),
    zones: readZones(settings.zones, { ...sources, challenge: acme.challenge }),
    resolver: settings.resolver,
    acme,
    webhooks: readWebhooks(settings.webhooks, sources),
    alerts: readAlerts(settings.alerts, document),
    file: resolve(file),
    status: readStatus(settings.status, document),
  }
  document.assertSound()
  return deepFreeze(config)
}

/**
 * On SQLite nobody else can take a run over, and the service itself takes up its own runs at once. There the longer time lets
 * the clocks of the service and of a DNS server differ more.
 */
const TAKE_OVER_SECONDS = { sqlite: 30, postgres: 5 }

function readAdminToken(file: string | undefined, { document, environment }: SecretSources): Secret | undefined {
  const secret =
    file === undefined
      ? new Secret(environment.DRAWBRIDGE_ADMIN_TOKEN ?? '')
      : readSecretFile(file, ['adminTokenFile'], document)
  return secret?.reveal() === '' ? undefined : secret
}

function readStore(
  { store, storeFile }: Pick<ConfigFile, 'store' | 'storeFile'>,
  stateDir: string,
  { document, environment }: SecretSources,
): StoreSetting {
  const secret =
    storeFile === undefined
      ? new Secret(environment.DRAWBRIDGE_STORE ?? store ?? 'sqlite')
      : readSecretFile(storeFile, ['storeFile'], document)
  if (secret && isPostgresUrl(secret.reveal())) return { kind: 'postgres', url: secret }
  if (secret && secret.reveal() !== 'sqlite')
    document.refuse(['store'], 'is not valid. Allowed: sqlite or postgres://user@host/database.')
  return { kind: 'sqlite', file: resolve(stateDir, 'drawbridge.db') }
}

/** Rejects an invalid URL here, because a later error message would show the URL, which can contain a password. */
function isPostgresUrl(text: string): boolean {
  try {
    decodeURIComponent(new URL(text).password)
    return /^postgres(ql)?:\/\//.test(text)
  } catch {
    return false
  }
}

export function readFile(
  file: string,
  missing = 'The configuration cannot be read (REASON). Pass its path with --config.',
) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    if (reason === 'EACCES')
      throw new ConfigError([`${file}: You may not read it. Run this as root or as the user drawbridge.`])
    throw new ConfigError([`${file}: ${missing.replace('REASON', reason)}`])
  }
}

export function deepFreeze<T>(target: T): T {
  if (typeof target !== 'object' || target === null || target instanceof Secret) return target
  for (const member of Object.values(target)) deepFreeze(member)
  return Object.freeze(target)
}
