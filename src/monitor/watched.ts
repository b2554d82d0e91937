import type { EdgeMap, ListenPlace, ServedHost } from '../edge/reading/contract.ts'
import { type Endpoint, parseAddress } from '../model/address.ts'
import { parseName } from '../model/dns-name.ts'
import type { Plan, PlanState } from '../model/exposure.ts'
import type { WatchedHost } from '../model/host-status.ts'
import type { Exposure } from '../store/contract.ts'

/** The installation, as far as it decides who is watched and how. */
export interface Surroundings {
  readonly addresses: Readonly<Record<string, string>>
  /** Where the Primary's edge is asked. */
  readonly edge: { readonly address: string; readonly ports: { readonly http: number; readonly https: number } }
}

export interface Held {
  readonly exposure: Exposure
  readonly plan: Plan
}

/** A host whose apply has not ended is not there yet; one that is blocked says so elsewhere and is asked all the same. */
const LISTED: readonly PlanState[] = ['applied', 'removing', 'blocked']

/** Every host that the edge serves, made here or not, and every exposure even where its file is gone. */
export function watchedHosts(
  map: Pick<EdgeMap, 'hosts' | 'find'>,
  held: ReadonlyMap<string, Held>,
  surroundings: Surroundings,
): WatchedHost[] {
  const ours = [...held.values()].filter(({ exposure }) => LISTED.includes(exposure.state))
  const others = map.hosts.filter(({ host }) => !held.has(host) && parseName(host) === host)
  return [
    ...ours.map((one) => managedHost(one, map.find(one.plan.host), surroundings)),
    ...others.map((served) => foreignHost(served, surroundings)),
  ]
}

function managedHost(
  { exposure, plan }: Held,
  served: ServedHost | undefined,
  { addresses, edge }: Surroundings,
): WatchedHost {
  const { server, tls, health } = plan.request
  return {
    host: plan.host,
    configPath: served?.configPath ?? null,
    managed: true,
    tls,
    path: health,
    door: { address: edge.address, port: tls ? edge.ports.https : edge.ports.http },
    server,
    address: addresses[server] ?? null,
    planId: plan.planId,
    expiresAt: exposure.expiresAt ?? null,
  }
}

function foreignHost(served: ServedHost, { addresses, edge }: Surroundings): WatchedHost {
  const { host, configPath, target, tls } = served
  const server = Object.entries(addresses).find(([, address]) => address === target?.host)?.[0] ?? null
  const usual = tls ? edge.ports.https : edge.ports.http
  const door = doorAt(
    served.listen.filter((place) => place.tls === tls),
    usual,
    edge.address,
  )
  return {
    host,
    configPath,
    managed: false,
    tls,
    path: '/',
    door: door ?? { address: edge.address, port: usual },
    server,
    address: target?.host ?? null,
    planId: null,
    expiresAt: null,
  }
}

/** The usual port where the host listens on it, or else its first; at the edge's own address where that is listened on. */
function doorAt(places: readonly ListenPlace[], usualPort: number, edgeAddress: string): Endpoint | undefined {
  const [first] = [...places.filter(({ port }) => port === usualPort), ...places.filter(({ port }) => port !== null)]
  if (!first || first.port === null) return undefined
  const address = parseAddress(first.address.replace(/^\[|\]$/g, ''))
  const isAnywhere = address === undefined || address === '0.0.0.0' || address === '::'
  return { address: isAnywhere ? edgeAddress : address, port: first.port }
}
