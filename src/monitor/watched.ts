import type { ServedHost, ServedMap } from '../edge/served.ts'
import { listenAddress, listenGap } from '../model/address.ts'
import type { StatusRanges } from '../model/badge.ts'
import { parseName } from '../model/dns-name.ts'
import { labelsOf, type Plan, type PlanState } from '../model/exposure.ts'
import type { WatchedHost } from '../model/host-status.ts'
import { statusesOf } from '../model/options/answers.ts'
import type { Exposure } from '../store/ports/exposures.ts'

/** The settings that decide which hosts are checked and how. */
export interface EdgeEnvironment {
  readonly addresses: Readonly<Record<string, string>>
  /** The file with the entry of a host. Null while nobody can say it. */
  readonly hostPath: (host: string) => string | Promise<string | null>
  /** Whether a file is one of those with the entries of hosts. */
  readonly isOurs: (path: string) => boolean
  /** How a host that is not managed is asked. Undefined: like every such host. */
  readonly ruleOf?: (
    host: string,
  ) => { readonly path?: string | undefined; readonly good?: StatusRanges | undefined } | undefined
  /** Where checks connect to the Primary's edge. */
  readonly edge: { readonly address: string; readonly ports: { readonly http: number; readonly https: number } }
}

/** The members of an exposure and its plan that checks need. Keeping thousands of whole plans would waste memory. */
export interface WatchedExposure {
  readonly host: string
  readonly planId: string
  readonly state: PlanState
  readonly expiresAt: number | null
  readonly server: string
  readonly port: number
  readonly tls: boolean
  readonly health: string
  /** Statuses beside 2xx with which the edge itself answers, because of the options. */
  readonly statuses?: readonly number[] | undefined
  readonly inMaintenance?: boolean
  /** The secret of the plan. No status contains it. */
  readonly proof: string
  readonly owner?: string
  readonly note?: string
}

export const watchedExposure = (
  { state, expiresAt }: Exposure,
  { host, planId, request, proof }: Plan,
): WatchedExposure => ({
  host,
  planId,
  state,
  expiresAt: expiresAt ?? null,
  server: request.server,
  port: request.port,
  tls: request.tls,
  health: request.health,
  statuses: statusesOf(request.options),
  ...(request.options?.maintenance && { inMaintenance: true }),
  proof,
  ...labelsOf({ request }),
})

/** The states of exposures that are checked. A host whose apply has not ended is not listed yet. A blocked host is checked. */
const LISTED: readonly PlanState[] = ['applied', 'removing', 'blocked']

/** Every host that the edge serves, managed or not, and every exposure, even if its file is missing. */
export function* watchedHosts(
  map: Pick<ServedMap, 'hosts' | 'find'>,
  held: ReadonlyMap<string, WatchedExposure>,
  environment: EdgeEnvironment,
): Generator<WatchedHost> {
  for (const one of held.values())
    if (isListed(one)) yield managedHost(one, map.find(one.host)?.configPath ?? null, environment)
  for (const served of map.hosts)
    if (!held.has(served.host) && parseName(served.host) === served.host) yield unmanagedHost(served, environment)
}

/** A host after its run, before the edge's configuration is read again. Undefined if the host is not checked. */
export async function watchedAfterRun(
  held: WatchedExposure | undefined,
  environment: EdgeEnvironment,
): Promise<WatchedHost | undefined> {
  return held && isListed(held) ? managedHost(held, await environment.hostPath(held.host), environment) : undefined
}

const isListed = ({ state }: WatchedExposure): boolean => LISTED.includes(state)

function managedHost(
  {
    host,
    planId,
    state,
    expiresAt,
    server,
    port,
    tls,
    health,
    owner,
    note,
    inMaintenance,
    statuses = [],
  }: WatchedExposure,
  configPath: string | null,
  { addresses, edge }: EdgeEnvironment,
): WatchedHost {
  return {
    host,
    configPath,
    managed: true,
    tls,
    path: health,
    ...(statuses.length > 0 && { goodStatuses: [[200, 299], ...statuses.map((one) => [one, one] as const)] as const }),
    listenAddress: listenAddress([], tls, edge),
    server,
    address: addresses[server] ?? null,
    port,
    planId,
    expiresAt,
    isBlocked: state === 'blocked',
    ...(inMaintenance && { inMaintenance }),
    ...(owner !== undefined && { owner }),
    ...(note !== undefined && { note }),
  }
}

function unmanagedHost(served: ServedHost, { addresses, edge, ruleOf }: EdgeEnvironment): WatchedHost {
  const { host, configPath, target, tls } = served
  const server = Object.entries(addresses).find(([, address]) => address === target?.host)?.[0] ?? null
  const { path = '/', good } = ruleOf?.(host) ?? {}
  return {
    host,
    configPath,
    managed: false,
    tls,
    path,
    goodStatuses: good,
    listenAddress: listenAddress(served.listen, tls, edge),
    listenGap: listenGap(served.listen, tls),
    server,
    address: target?.host ?? null,
    ...(target?.port !== undefined && { port: target.port }),
    planId: null,
    expiresAt: null,
  }
}
