import type { EdgeMap, ServedHost } from '../edge/reading/contract.ts'
import { doorOf } from '../model/address.ts'
import { parseName } from '../model/dns-name.ts'
import type { Plan, PlanState } from '../model/exposure.ts'
import type { WatchedHost } from '../model/host-status.ts'
import type { Exposure } from '../store/ports/exposures.ts'

/** The installation, as far as it decides who is watched and how. */
export interface Surroundings {
  readonly addresses: Readonly<Record<string, string>>
  /** Where an apply writes the server block of a host. */
  readonly hostPath: (host: string) => string
  /** Where the Primary's edge is asked. */
  readonly edge: { readonly address: string; readonly ports: { readonly http: number; readonly https: number } }
}

/** Of an exposure and its plan what watching takes: of thousands all the rest would fill the memory for nothing. */
export interface Held {
  readonly host: string
  readonly planId: string
  readonly state: PlanState
  readonly expiresAt: number | null
  readonly server: string
  readonly tls: boolean
  readonly health: string
  /** The secret of its plan: stays here, and is in no status. */
  readonly proof: string | undefined
}

export const heldBy = ({ state, expiresAt }: Exposure, { host, planId, request, proof }: Plan): Held => ({
  host,
  planId,
  state,
  expiresAt: expiresAt ?? null,
  server: request.server,
  tls: request.tls,
  health: request.health,
  proof,
})

/** A host whose apply has not ended is not there yet; one that is blocked says so elsewhere and is asked all the same. */
const LISTED: readonly PlanState[] = ['applied', 'removing', 'blocked']

/** Every host that the edge serves, made here or not, and every exposure even where its file is gone. */
export function watchedHosts(
  map: Pick<EdgeMap, 'hosts' | 'find'>,
  held: ReadonlyMap<string, Held>,
  surroundings: Surroundings,
): WatchedHost[] {
  const ours = [...held.values()].filter(isListed)
  const others = map.hosts.filter(({ host }) => !held.has(host) && parseName(host) === host)
  return [
    ...ours.map((one) => managedHost(one, map.find(one.host)?.configPath ?? null, surroundings)),
    ...others.map((served) => foreignHost(served, surroundings)),
  ]
}

/** A host as a run left it, before anybody has read the edge's configuration. Undefined where it is not watched. */
export function watchedAfterRun(held: Held | undefined, surroundings: Surroundings): WatchedHost | undefined {
  return held && isListed(held) ? managedHost(held, surroundings.hostPath(held.host), surroundings) : undefined
}

const isListed = ({ state }: Held): boolean => LISTED.includes(state)

function managedHost(
  { host, planId, expiresAt, server, tls, health }: Held,
  configPath: string | null,
  { addresses, edge }: Surroundings,
): WatchedHost {
  return {
    host,
    configPath,
    managed: true,
    tls,
    path: health,
    door: doorOf([], tls, edge),
    server,
    address: addresses[server] ?? null,
    planId,
    expiresAt,
  }
}

function foreignHost(served: ServedHost, { addresses, edge }: Surroundings): WatchedHost {
  const { host, configPath, target, tls } = served
  const server = Object.entries(addresses).find(([, address]) => address === target?.host)?.[0] ?? null
  return {
    host,
    configPath,
    managed: false,
    tls,
    path: '/',
    door: doorOf(served.listen, tls, edge),
    server,
    address: target?.host ?? null,
    planId: null,
    expiresAt: null,
  }
}
