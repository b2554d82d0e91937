import type { HostRow } from '../api/hosts.ts'
import { severity } from '../parts/badge-kind.ts'
import { needsOf } from './attention.ts'

export const SORTS = ['badge', 'host', 'server', 'since', 'uptime', 'latency', 'certificate', 'expires'] as const
export type Sort = (typeof SORTS)[number]

/** Filters that take several values at once. An empty list means all. */
export const FILTERS = ['need', 'badge', 'server', 'zone', 'managed'] as const
export type Filter = (typeof FILTERS)[number]

/** The filter and the order of the hosts. */
export interface View extends Readonly<Record<Filter, readonly string[]>> {
  readonly search: string
  readonly sort: Sort
  readonly descending: boolean
}

export const WHOLE_VIEW: View = {
  search: '',
  need: [],
  badge: [],
  server: [],
  zone: [],
  managed: [],
  sort: 'badge',
  descending: false,
}

/** Separate from filtering, because sorting takes longer and changes less often. */
export function inOrder(rows: readonly HostRow[], { sort, descending }: Pick<View, 'sort' | 'descending'>): HostRow[] {
  const key = KEYS[sort]
  const turn = descending ? -1 : 1
  return rows
    .map((row) => ({ row, key: key(row) }))
    .sort((a, b) => turn * compared(a.key, b.key) || compared(a.row.host, b.row.host))
    .map(({ row }) => row)
}

export function matching(
  rows: readonly HostRow[],
  { search, ...view }: Pick<View, 'search' | Filter>,
  now: number,
): readonly HostRow[] {
  const wanted = search.trim().toLowerCase()
  const filters = FILTERS.filter((filter) => view[filter].length > 0)
  if (wanted === '' && filters.length === 0) return rows
  return rows.filter(
    (row) =>
      filters.every((filter) => VALUES[filter](row, now).some((value) => view[filter].includes(value))) &&
      (wanted === '' || row.host.includes(wanted) || row.server === wanted),
  )
}

/** The values of a host in each filter. */
const VALUES: Record<Filter, (row: HostRow, now: number) => readonly string[]> = {
  need: needsOf,
  badge: ({ badge }) => [badge],
  server: ({ server }) => [server ?? 'none'],
  zone: ({ host }) => [host.slice(host.indexOf('.') + 1)],
  managed: ({ managed }) => [managed ? 'managed' : 'unmanaged'],
}

/** Unknown values come last, or first in reverse order. */
const KEYS: Record<Sort, (row: HostRow) => string | number> = {
  badge: ({ badge, blocked }) => `${blocked ? '!' : severity(badge)} ${badge}`,
  host: ({ host }) => host,
  server: ({ server }) => server ?? '~',
  since: ({ since }) => since ?? '~',
  uptime: ({ uptime24h }) => uptime24h ?? 2,
  latency: ({ latencyMs }) => latencyMs ?? Number.MAX_SAFE_INTEGER,
  certificate: ({ certificate }) => certificate?.notAfter ?? '~',
  expires: ({ expiresAt }) => expiresAt ?? '~',
}

const compared = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)

/** The number of hosts per badge, worst first. */
export function badgeCounts(rows: readonly HostRow[]): readonly (readonly [badge: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const { badge } of rows) counts.set(badge, (counts.get(badge) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => severity(a) - severity(b) || compared(a, b))
}

/** The values that a filter can take, in order. */
export const valuesOf = (rows: readonly HostRow[], filter: Exclude<Filter, 'need'>): readonly string[] =>
  [...new Set(rows.flatMap((row) => VALUES[filter](row, 0)))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
