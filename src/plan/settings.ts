/** How a certificate authority is shown that a name is ours. */
export type ChallengeKind = 'dns-01' | 'http-01'

/** How long a backend may take to answer on its health path. */
export const HEALTH_TIMEOUT_SECONDS = 3

/** The settings of this installation that planning needs. Plain values only: no client and no I/O. */
export interface PlanSettings {
  readonly targets: readonly string[]
  readonly addresses: Readonly<Record<string, string>>
  readonly zones: ReadonlyMap<string, ZoneSettings>
  readonly edge: { readonly http: number; readonly https: number }
  readonly ports: PortPolicy
  readonly challenge: ChallengeKind
  /** The ids that options may name. Default: none. */
  readonly named?: NamedIds | undefined
}

/** What administrators have defined for options, by id. */
interface NamedIds {
  readonly passwords: readonly string[]
  readonly authorities: readonly string[]
  readonly snippets: readonly string[]
}

/** The DNS records that a host gets in a zone. */
interface ZoneSettings {
  readonly ttl: number
  readonly publish: readonly { readonly type: 'A' | 'AAAA' | 'CNAME'; readonly value: string }[]
}

export interface PortPolicy {
  readonly allowed: readonly (readonly [number, number])[]
  /** Ports of Drawbridge's own listeners, denied on every server. */
  readonly denied: readonly number[]
  /** Ports denied on single servers. 80 and 443 belong to the edge only on servers that run an edge. */
  readonly deniedOn: Readonly<Record<string, readonly number[]>>
}

export function isPortAllowed(policy: PortPolicy, server: string, port: number): boolean {
  const inRange = policy.allowed.some(([first, last]) => first <= port && port <= last)
  // The caller chooses the server name: `constructor` must not find an inherited member.
  const deniedHere = Object.hasOwn(policy.deniedOn, server) ? (policy.deniedOn[server] ?? []) : []
  return inRange && !policy.denied.includes(port) && !deniedHere.includes(port)
}

/** Denies the ports of Drawbridge's listeners. An exposed edge would be a loop, and an exposed API a leak. */
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
