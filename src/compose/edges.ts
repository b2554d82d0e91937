import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { AgentSetting } from '../config/servers.ts'
import type { EdgeTrust } from '../edge/authority/trust.ts'
import type { Edge, EdgePreflight, EdgeView, SiteAnswer } from '../edge/contract/edge.ts'
import type { EdgeVisitor } from '../edge/contract/visit.ts'
import { FolderLock } from '../edge/fences/folder-lock.ts'
import { CURRENT } from '../edge/layout.ts'
import { AgentClient } from '../edge/remote/agent-client.ts'
import { remoteEdge } from '../edge/remote/remote-edge.ts'
import { remotePreflight, remoteReader, remoteSites, remoteView, remoteVisitor } from '../edge/remote/remote-view.ts'
import type { EdgeReader, ServedMap } from '../edge/served.ts'
import { edgeVisitor } from '../edge/visit/visitor.ts'
import { edgeReader } from '../estate/reading/edge-reader.ts'
import type { EdgeSettings } from '../estate/settings.ts'
import type { EdgeEnvironment } from '../monitor/watched.ts'
import { findSite, targetAt } from '../nginx/adopt/find-site.ts'
import { PresentGeneration } from '../nginx/generations/present.ts'
import { type LocalEdgeParts, localEdge } from '../nginx/local-edge.ts'
import { edgePreflight } from '../nginx/preflight.ts'
import { edgeView } from '../nginx/view.ts'
import type { Clock } from '../primitives/clock.ts'
import type { Log } from '../runtime/log.ts'

/** One edge as the service works with it, whether it stands on this machine or behind an agent. */
export interface EdgeAccess {
  readonly server: string
  /** What can change it. */
  readonly edge: Edge
  /** Makes this process the owner of an nginx that it changes itself. Throws `OwnedElsewhere` if another one is. */
  readonly own: () => void
  /** Ends that. */
  readonly release: () => Promise<void>
  readonly view: EdgeView
  readonly reader: EdgeReader<ServedMap>
  readonly preflight: EdgePreflight
  /** The hand-written site of a host. Rejects with an EdgeFault if it cannot be read. */
  readonly site: (host: string) => Promise<SiteAnswer>
  readonly visitor: (limitMs: number) => EdgeVisitor
  readonly environment: Omit<EdgeEnvironment, 'addresses'>
}

/** By the id of the server. */
export type EdgeAccesses = ReadonlyMap<string, EdgeAccess>

export const targetsOf = (servers: Config['servers']) =>
  servers.targets.map((server) => ({ server, address: servers.addresses[server] ?? '' }))

/** What a hand-written site is judged by, from the configuration. */
export const siteWorldOf = ({ servers, edge, options }: Pick<Config, 'servers' | 'edge' | 'options'>) => ({
  ports: edge,
  named: options,
  serverAt: targetAt(targetsOf(servers), servers.primary),
})

/** All edges of the configuration. Nothing is connected yet. */
export function composeEdges(config: Config, trust: EdgeTrust, log: Log, clock: Clock): EdgeAccesses {
  const local = Object.keys(config.edges).flatMap((server) => {
    const settings = settingsOf(config, server, clock)
    return settings ? [[server, localAccess(settings, siteWorldOf(config), log)] as const] : []
  })
  const remote = Object.entries(config.agents).map(
    ([server, agent]) => [server, remoteAccess(config, { server, agent, trust, clock }, log)] as const,
  )
  return new Map<string, EdgeAccess>([...local, ...remote])
}

/** The settings of an nginx that this service changes itself. Undefined for another one. */
function settingsOf(
  { edges, edge: ports }: Pick<Config, 'edges' | 'edge'>,
  server: string,
  clock: Clock,
): EdgeSettings | undefined {
  const setting = edges[server]
  return setting && { ...setting, server, ports, clock }
}

/** A fence of the far future, as an earlier version took it, refuses no run. */
export const ignoredFence =
  (server: string, log: Log): NonNullable<LocalEdgeParts['onIgnoredFence']> =>
  ({ host, epoch }, ahead) =>
    log.warn(
      { event: 'edge_fence_ignored', server, host, epoch },
      `The fence of ${host} on edge ${server} is ${ahead} ahead of the clock of this machine. It is ignored.`,
    )

/** An undo of these runs may find that what stood before is gone. */
export const forgottenRuns =
  (server: string, log: Log): NonNullable<LocalEdgeParts['onForgottenRuns']> =>
  (runs) =>
    log.warn(
      { event: 'edge_undo_forgotten', server, runs: runs.map(({ run }) => run) },
      `Edge ${server} keeps no longer what stood before ${runs.length} unsettled runs: they are older than 30 days, or there are too many.`,
    )

function localAccess(settings: EdgeSettings, world: ReturnType<typeof siteWorldOf>, log: Log): EdgeAccess {
  const { server, folder, address, ports, clock } = settings
  const reader = edgeReader(settings)
  const preflight = edgePreflight(settings, reader)
  const present = new PresentGeneration(folder)
  const placeOf = async (host: string) => present.whereIs(host).file
  const edge = localEdge(settings, {
    lock: new FolderLock(folder, server),
    onIgnoredFence: ignoredFence(server, log),
    onForgottenRuns: forgottenRuns(server, log),
    loaded: (since) => preflight.markLoaded(since),
  })
  return {
    server,
    edge,
    own: () => edge.own(),
    release: () => edge.release(),
    view: edgeView(settings, reader),
    reader,
    preflight,
    site: async (host) => {
      const found = await findSite(settings, host, world)
      return found ? { kind: 'site', ...found } : { kind: 'none' }
    },
    visitor: (limitMs) => edgeVisitor(limitMs, clock),
    environment: {
      hostPath: (host) => placeOf(host).catch(() => null),
      isOurs: isBelow(folder),
      edge: { address, ports },
    },
  }
}

interface RemoteSetting {
  readonly server: string
  readonly agent: AgentSetting
  readonly trust: EdgeTrust
  readonly clock: Clock
}

function remoteAccess(config: Config, setting: RemoteSetting, log: Log): EdgeAccess {
  const { server } = setting
  const client = agentClient(setting, log)
  const known = { address: config.servers.addresses[server] ?? '', ports: config.edge }
  const view = remoteView(client, known)
  return {
    server,
    edge: remoteEdge(client),
    own: () => undefined,
    release: async () => undefined,
    view,
    reader: remoteReader(client),
    preflight: remotePreflight(client),
    site: remoteSites(client, targetsOf(config.servers)),
    visitor: (limitMs) => remoteVisitor(client, limitMs, known),
    environment: {
      hostPath: (host) =>
        view.list([host]).then(
          ({ hosts: [listed] }) => listed?.file ?? null,
          () => null,
        ),
      isOurs: (path) => client.last !== undefined && isBelow(client.last.nginx.folder)(path),
      edge: known,
    },
  }
}

export function agentClient({ server, agent, trust, clock }: RemoteSetting, log: Log): AgentClient {
  const client: AgentClient = new AgentClient({
    server,
    clock,
    at:
      'socket' in agent
        ? agent
        : { ...agent, tls: { identity: () => trust.identity(server), onDue: (shown) => replace(shown) } },
    onAway: (reason) =>
      log.warn({ event: 'edge_agent_away', server, reason }, `The agent of edge ${server} does not answer.`),
    onBack: ({ version }) =>
      log.info({ event: 'edge_agent_back', server, version }, `The agent of edge ${server} answers again.`),
  })
  const replace = once((shown: string) =>
    replaceCertificate(client, trust, shown).then(
      () =>
        log.info({ event: 'edge_certificate_replaced', server }, `The agent of edge ${server} has a new certificate.`),
      (error: unknown) =>
        log.error(
          { event: 'edge_certificate_not_replaced', err: error, server },
          `The certificate of the agent of edge ${server} could not be replaced; retrying.`,
        ),
    ),
  )
  return client
}

async function replaceCertificate(client: AgentClient, trust: EdgeTrust, shown: string): Promise<void> {
  const publicKey = await client.call('prepare-key', {})
  const { certificate } = await trust.replace(client.server, publicKey, shown)
  await client.call('install-certificate', certificate)
  client.reconnect()
}

/** Does nothing while it is under way. */
function once<T>(work: (given: T) => Promise<void>): (given: T) => void {
  let isUnderWay = false
  return (given) => {
    if (isUnderWay) return
    isUnderWay = true
    void work(given).finally(() => {
      isUnderWay = false
    })
  }
}

const isBelow =
  (folder: string) =>
  (path: string): boolean =>
    path.startsWith(join(folder, CURRENT, '/'))
