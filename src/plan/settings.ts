/** How long a backend may take to answer on its health path. */
export const HEALTH_TIMEOUT_SECONDS = 3

/** What planning needs to know of this installation. Facts only: nothing here can reach out. */
export interface PlanSettings {
  readonly targets: readonly string[]
  readonly addresses: Readonly<Record<string, string>>
  readonly zones: ReadonlyMap<string, ZoneSettings>
  readonly edge: { readonly http: number; readonly https: number }
  readonly ports: PortPolicy
}

/** What a host's name is given in a zone. */
interface ZoneSettings {
  readonly ttl: number
  readonly publish: readonly { readonly type: 'A' | 'AAAA' | 'CNAME'; readonly value: string }[]
}

export interface PortPolicy {
  readonly allowed: readonly (readonly [number, number])[]
  /** Ports of our own listeners, denied on every server. */
  readonly denied: readonly number[]
  /** 80 and 443 belong to the edge only where an edge runs; elsewhere they are ordinary backends' ports. */
  readonly deniedOn: Readonly<Record<string, readonly number[]>>
}

export function isPortAllowed(policy: PortPolicy, server: string, port: number): boolean {
  const inRange = policy.allowed.some(([first, last]) => first <= port && port <= last)
  // A server's name is the caller's word: `constructor` must find nothing here.
  const deniedHere = Object.hasOwn(policy.deniedOn, server) ? (policy.deniedOn[server] ?? []) : []
  return inRange && !policy.denied.includes(port) && !deniedHere.includes(port)
}

/** Our own listeners must never become backends: a name that points back at the edge or the API is a loop or a leak. */
export function denyOwnListeners(
  allowed: PortPolicy['allowed'],
  apiPort: number,
  edge: { http: number; https: number },
  edgeServers: readonly string[],
): PortPolicy {
  const own = [...new Set([apiPort, edge.http, edge.https])]
  const isWeb = (port: number) => port === 80 || port === 443
  const web = own.filter(isWeb)
  return {
    allowed,
    denied: own.filter((port) => !isWeb(port)),
    deniedOn: web.length === 0 ? {} : Object.fromEntries(edgeServers.map((server) => [server, web])),
  }
}
