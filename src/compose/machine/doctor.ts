import { join } from 'node:path'
import { acmeDirectory } from '../../certificates/acme/directory.ts'
import { certificateInventory } from '../../certificates/stock/inventory.ts'
import { readKeys } from '../../certificates/vault/key-file.ts'
import type { Config } from '../../config/config.ts'
import type { Zone } from '../../config/zones.ts'
import { dnsReader } from '../../dns/reader.ts'
import { rfc2136Provider } from '../../dns/rfc2136.ts'
import { CHANGE_FUDGE } from '../../dns/tsig.ts'
import { EdgeTrust, type SecretShelf } from '../../edge/authority/trust.ts'
import { lockHolder, owning } from '../../edge/fences/folder-lock.ts'
import { FOLDERS, LOCK } from '../../edge/layout.ts'
import type { AgentClient } from '../../edge/remote/agent-client.ts'
import { remoteEdge } from '../../edge/remote/remote-edge.ts'
import { edgeReader } from '../../estate/reading/edge-reader.ts'
import { readMainFile } from '../../estate/reading/main-file.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { formatEndpoint } from '../../model/address.ts'
import { localEdge } from '../../nginx/local-edge.ts'
import { buildFault, readBuild } from '../../nginx/process/nginx-build.ts'
import { masterPid } from '../../nginx/process/nginx-workers.ts'
import { rehearsePrepare } from '../../nginx/process/rehearse.ts'
import type { DoctorParts } from '../../operate/doctor/doctor.ts'
import type { ExaminedAgent, ExaminedEdge } from '../../operate/doctor/edges.ts'
import { isUnverifiedRemote } from '../../operate/doctor/folders.ts'
import { isService, type Listener } from '../../operate/doctor/ports.ts'
import type { ExaminedZone } from '../../operate/doctor/zones.ts'
import { type Clock, systemClock } from '../../primitives/clock.ts'
import { EdgeComparison } from '../../runs/compare-edge.ts'
import { lockFileOf } from '../../runtime/instance.ts'
import { createLog } from '../../runtime/log.ts'
import { NEWEST_SCHEMA, OLDEST_SCHEMA, openStore, schemaVersion } from '../../store/open.ts'
import { agentClient } from '../edges.ts'
import { keysOf } from '../zone-clients.ts'

/** A person waits for the result, so a slow server may take longer here than in a run. */
const DNS_LIMITS = { limitMs: 6_000 }

/** Everything that doctor examines. */
export function doctorParts(config: Config, clock: Clock = systemClock): DoctorParts {
  const { servers, stateDir, certificates, acme, zones, store } = config
  const settings = Object.entries(config.edges).map(([server, edge]) => ({
    ...edge,
    server,
    ports: config.edge,
    clock,
  }))
  const edges = settings.map((edge) => examinedEdge(edge, config))
  const agents = Object.entries(config.agents).map(([server, agent]) =>
    examinedAgent(
      agentClient({ server, agent, trust: lazyTrust(config, clock), clock }, createLog('silent', [])),
      servers.primary,
    ),
  )
  const secondary = servers.secondary
  const setting = store.kind === 'sqlite' ? store : { kind: store.kind, url: store.url.reveal() }
  return {
    stateDir,
    certificateFolders: certificates,
    store: {
      file: store.kind === 'sqlite' ? store.file : undefined,
      version: () => schemaVersion(setting),
      ...{ oldest: OLDEST_SCHEMA, newest: NEWEST_SCHEMA },
      assertKey: () => void readKeys(config.storeKeyFile),
      isUnverified: setting.kind === 'postgres' && isUnverifiedRemote(setting.url),
    },
    edges,
    agents,
    secondary:
      secondary === undefined
        ? undefined
        : {
            server: secondary,
            edge: edgeOf([...edges, ...agents], secondary),
            compare: () => compareSecondary(config, [...edges, ...agents], clock),
          },
    zones: [...zones.values()].map((zone) => examinedZone(zone, config.instances.takeOverSeconds, clock)),
    directory: acmeDirectory({ url: acme.directory, caFile: acme.caFile, clock }),
    inventory: certificateInventory(certificates, { issued: join(stateDir, 'certificates') }),
    now: clock.now,
    listeners: [serviceListener(config, clock), ...settings.flatMap(edgeListeners)],
  }
}

/** Undefined where the store cannot be opened: its own finding says why. */
async function compareSecondary(config: Config, edges: readonly Pick<ExaminedEdge, 'edge'>[], clock: Clock) {
  const { servers, store: setting } = config
  const secondary = servers.secondary === undefined ? undefined : edgeOf(edges, servers.secondary)
  if (!secondary) return undefined
  const where = setting.kind === 'sqlite' ? setting : { kind: setting.kind, url: setting.url.reveal() }
  const store = await openStore(where, { upgrade: false, clock }).catch(() => undefined)
  if (!store) return undefined
  try {
    const comparison = new EdgeComparison(store, clock)
    const exposures = await comparison.exposures()
    const compared = await comparison.secondary(secondary, exposures, edgeOf(edges, servers.primary))
    const times = compared.behind.flatMap((host) => exposures.get(host)?.since ?? [])
    return { ...compared, since: times.length === 0 ? undefined : Math.min(...times) }
  } finally {
    await store.close()
  }
}

const edgeOf = (edges: readonly Pick<ExaminedEdge, 'edge'>[], server: string) =>
  edges.find(({ edge }) => edge.server === server)?.edge

/** The store is opened with the first agent on another machine, which is known by a certificate. */
export function lazyTrust(config: Config, { now }: Clock): EdgeTrust {
  const shelf = async (): Promise<SecretShelf> => {
    const { openShelf } = await import('../open-store.ts')
    return openShelf(config)
  }
  let opened: Promise<SecretShelf> | undefined
  const once = () => {
    opened ??= shelf()
    return opened
  }
  return new EdgeTrust({
    shelf: {
      read: async (name) => (await once()).read(name),
      change: async (name, next) => (await once()).change(name, next),
      putOnce: async (name, text) => (await once()).putOnce(name, text),
    },
    instance: 'console',
    now,
  })
}

const examinedAgent = (client: AgentClient, primary: string): ExaminedAgent => ({
  edge: remoteEdge(client),
  part: client.server === primary ? 'Primary' : 'Secondary',
  examine: () => client.look('findings', true),
})

function examinedEdge(settings: EdgeSettings, { servers: { primary }, stateDir }: Config): ExaminedEdge {
  const { server, config, folder, binary, pidFile } = settings
  return {
    edge: localEdge(settings),
    part: server === primary ? 'Primary' : 'Secondary',
    config,
    folder,
    binary,
    pidFile,
    folders: FOLDERS,
    master: () => masterPid(pidFile),
    assertIncluded: () => readMainFile(settings),
    buildFault: async () => buildFault(await readBuild(binary, settings.clock)),
    rehearse: () => rehearsePrepare(settings),
    assertOurs: () => assertOurs(settings, stateDir),
    unread: async () => (await edgeReader(settings).read()).broken,
    now: settings.clock.now,
  }
}

/** Rejects if another process than the service of this configuration owns the folder. */
async function assertOurs({ folder, server }: EdgeSettings, stateDir: string): Promise<void> {
  const owner = lockHolder(join(folder, LOCK))
  if (owner === undefined || owner !== lockHolder(lockFileOf(stateDir)))
    await owning(folder, server, async () => undefined)
}

function examinedZone(
  { name, primary, nameServers, tsig, nextTsig }: Zone,
  takeOverSeconds: number,
  clock: Clock,
): ExaminedZone {
  const servers = new Map(
    [primary, ...nameServers].map((server) => [formatEndpoint(server), dnsReader(server, { ...DNS_LIMITS, clock })]),
  )
  return {
    name,
    servers: [...servers.values()],
    provider: tsig && rfc2136Provider({ zone: name, primary, ...keysOf(tsig, nextTsig), clock }),
    // A lease is renewed after a quarter of its life: three quarters of it are always left.
    clockLimitSeconds: Math.min(CHANGE_FUDGE, Math.floor((takeOverSeconds * 3) / 4) - 1),
    clock,
  }
}

const serviceListener = ({ listen }: Config, clock: Clock): Listener => ({
  subject: 'service',
  ...listen,
  isOurs: () => isService(listen, clock),
})

const edgeListeners = ({ server, listen, ports, pidFile }: EdgeSettings): Listener[] =>
  listen.flatMap((address) =>
    [ports.http, ports.https].map((port) => ({
      subject: `edge ${server}`,
      address,
      port,
      isOurs: async (owners: readonly number[]) => {
        const master = masterPid(pidFile)
        return master !== undefined && owners.includes(master)
      },
    })),
  )
