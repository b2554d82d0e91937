import type { Badge } from '../model/badge.ts'
import { uptimeOf } from '../model/history.ts'
import type { HostStatus } from '../model/host-status.ts'

type SortKey = 'host' | 'badge' | 'server' | 'since' | 'latency' | 'uptime'

export interface ListQuery {
  /** In lower case. */
  readonly search?: string | undefined
  readonly badges?: readonly string[] | undefined
  readonly server?: string | undefined
  readonly managed?: boolean | undefined
  readonly muted?: boolean | undefined
  readonly sort: SortKey
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** The position of the last host on the previous page. */
  readonly after?: Place | undefined
  readonly at: number
}

type SortValue = string | number | null
export type Place = readonly [value: SortValue, host: string]

export interface Listing {
  readonly page: readonly HostStatus[]
  readonly matched: number
  readonly next: Place | null
  readonly counts: Readonly<Record<string, number>>
  readonly servers: readonly string[]
}

/** Filters, sorts and pages the hosts. `serverOf` returns what the caller may see of the server. */
export function listHosts(
  hosts: Iterable<HostStatus>,
  query: ListQuery,
  serverOf: (status: HostStatus) => string | null,
): Listing {
  const counts: Record<string, number> = {}
  const servers = new Set<string>()
  const matching: { status: HostStatus; place: Place }[] = []
  for (const status of hosts) {
    const server = serverOf(status)
    counts[status.badge] = (counts[status.badge] ?? 0) + 1
    if (server !== null) servers.add(server)
    if (matches(status, server, query))
      matching.push({ status, place: [sortValue(status, server, query), status.host] })
  }
  const compare = comparison(query.order)
  matching.sort((a, b) => compare(a.place, b.place))
  const { after, limit } = query
  const from = after ? firstAfter(matching, (one) => compare(one.place, after) > 0) : 0
  const page = matching.slice(from, from + limit)
  const next = from + limit < matching.length ? (page.at(-1)?.place ?? null) : null
  const sorted = [...servers].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return { page: page.map(({ status }) => status), matched: matching.length, next, counts, servers: sorted }
}

function matches({ host, badge, managed, mute }: HostStatus, server: string | null, query: ListQuery): boolean {
  if (query.badges && !query.badges.includes(badge)) return false
  if (query.server !== undefined && server !== query.server) return false
  if (query.managed !== undefined && managed !== query.managed) return false
  if (query.muted !== undefined && (mute !== undefined) !== query.muted) return false
  return query.search === undefined || host.includes(query.search) || (server?.includes(query.search) ?? false)
}

/** Badges that need attention come first. */
const RANK: readonly Badge[] = ['DOWN', 'NO DNS', 'CERT', 'DRIFT', 'PENDING', 'RUNNING']
const rankOf = (badge: Badge): number => (badge.startsWith('HTTP ') ? 0.5 : RANK.indexOf(badge))

function sortValue(status: HostStatus, server: string | null, { sort, at }: ListQuery): SortValue {
  switch (sort) {
    case 'host':
      return status.host
    case 'badge':
      return rankOf(status.badge)
    case 'server':
      return server
    case 'since':
      return status.since
    case 'latency':
      return status.lastCheck?.latencyMs ?? null
    case 'uptime':
      return uptimeOf(status.history, at)
  }
}

/** Unknown values are last in both orders. Equal values are sorted by host name. */
function comparison(order: 'asc' | 'desc'): (a: Place, b: Place) => number {
  const sign = order === 'asc' ? 1 : -1
  return ([a, hostA], [b, hostB]) => {
    if (a !== b) {
      if (a === null || b === null) return a === null ? 1 : -1
      return a < b ? -sign : sign
    }
    return hostA < hostB ? -1 : hostA > hostB ? 1 : 0
  }
}

/** The first index of a sorted list where `isAfter` is true. */
function firstAfter<T>(sorted: readonly T[], isAfter: (one: T) => boolean): number {
  const found = sorted.findIndex(isAfter)
  return found < 0 ? sorted.length : found
}
