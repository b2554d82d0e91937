import type { Badge } from '../model/badge.ts'
import { uptimeOf } from '../model/history.ts'
import type { HostStatus } from '../model/host-status.ts'

type SortKey = 'host' | 'badge' | 'server' | 'since' | 'latency' | 'uptime'

export interface ListQuery {
  /** In lower case. */
  readonly search?: string | undefined
  /** The beginning of the name, in lower case. */
  readonly prefix?: string | undefined
  /** Only hosts that are not well, as this caller may see it. */
  readonly needsAttention?: 'internal' | 'public' | undefined
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
  const compare = comparison(query.order)
  const found = new FirstHosts(query.limit, compare)
  let matched = 0
  let left = 0
  for (const status of hosts) {
    const server = serverOf(status)
    counts[status.badge] = (counts[status.badge] ?? 0) + 1
    if (server !== null) servers.add(server)
    if (!matches(status, server, query)) continue
    matched += 1
    const value = sortValue(status, server, query)
    if (query.after && compare(value, status.host, ...query.after) <= 0) continue
    left += 1
    found.add(value, status)
  }
  const page = found.inOrder()
  const last = page.at(-1)
  const sorted = [...servers].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return {
    page: page.map(({ status }) => status),
    matched,
    next: last && left > page.length ? [last.value, last.status.host] : null,
    counts,
    servers: sorted,
  }
}

interface Placed {
  readonly value: SortValue
  readonly status: HostStatus
}

/** The first `count` hosts of an order. To sort thousands of hosts for each page would take most of its time. */
class FirstHosts {
  readonly #count: number
  readonly #compare: Compare
  #kept: Placed[] = []
  /** No host after this one is among the first. */
  #last: Placed | undefined

  constructor(count: number, compare: Compare) {
    this.#count = count
    this.#compare = compare
  }

  add(value: SortValue, status: HostStatus): void {
    const last = this.#last
    if (last && this.#compare(value, status.host, last.value, last.status.host) > 0) return
    this.#kept.push({ value, status })
    if (this.#kept.length < 2 * this.#count) return
    this.#kept = this.inOrder()
    this.#last = this.#kept.at(-1)
  }

  inOrder(): Placed[] {
    const compare = this.#compare
    return this.#kept.sort((a, b) => compare(a.value, a.status.host, b.value, b.status.host)).slice(0, this.#count)
  }
}

function matches(status: HostStatus, server: string | null, query: ListQuery): boolean {
  const { host, badge, managed, mute } = status
  if (query.needsAttention !== undefined && !needsAttention(status, query.needsAttention)) return false
  if (query.prefix !== undefined && !host.startsWith(query.prefix)) return false
  if (query.badges && !query.badges.includes(badge)) return false
  if (query.server !== undefined && server !== query.server) return false
  if (query.managed !== undefined && managed !== query.managed) return false
  if (query.muted !== undefined && (mute !== undefined) !== query.muted) return false
  return query.search === undefined || host.includes(query.search) || (server?.includes(query.search) ?? false)
}

/** Callers outside are not told what is blocked or muted. */
function needsAttention({ badge, isBlocked = false, mute }: HostStatus, network: 'internal' | 'public'): boolean {
  const isWell = badge === 'RUNNING' || badge === 'PENDING'
  return network === 'internal' ? (!isWell || isBlocked) && mute === undefined : !isWell
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

type Compare = (a: SortValue, hostA: string, b: SortValue, hostB: string) => number

/** Unknown values are last in both orders. Equal values are sorted by host name. */
function comparison(order: 'asc' | 'desc'): Compare {
  const sign = order === 'asc' ? 1 : -1
  return (a, hostA, b, hostB) => {
    if (a !== b) {
      if (a === null || b === null) return a === null ? 1 : -1
      return a < b ? -sign : sign
    }
    return hostA < hostB ? -1 : hostA > hostB ? 1 : 0
  }
}
