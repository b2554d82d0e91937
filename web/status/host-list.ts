import type { HostRow } from '../api/hosts.ts'
import { severity } from '../parts/badge-kind.ts'

export const SORTS = ['badge', 'host', 'server', 'since', 'uptime', 'latency'] as const
export type Sort = (typeof SORTS)[number]

/** The filter and the order of the hosts. */
export interface View {
  readonly search: string
  /** Empty means all. */
  readonly badge: string
  readonly server: string
  readonly sort: Sort
  readonly descending: boolean
}

export const WHOLE_VIEW: View = { search: '', badge: '', server: '', sort: 'badge', descending: false }

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
  { search, badge, server }: Pick<View, 'search' | 'badge' | 'server'>,
): readonly HostRow[] {
  const wanted = search.trim().toLowerCase()
  if (wanted === '' && badge === '' && server === '') return rows
  return rows.filter(
    (row) =>
      (badge === '' || row.badge === badge) &&
      (server === '' || row.server === server) &&
      (wanted === '' || row.host.includes(wanted) || row.server === wanted),
  )
}

/** Unknown values come last, or first in reverse order. */
const KEYS: Record<Sort, (row: HostRow) => string | number> = {
  badge: ({ badge }) => `${severity(badge)} ${badge}`,
  host: ({ host }) => host,
  server: ({ server }) => server ?? '~',
  since: ({ since }) => since ?? '~',
  uptime: ({ uptime24h }) => uptime24h ?? 2,
  latency: ({ latencyMs }) => latencyMs ?? Number.MAX_SAFE_INTEGER,
}

const compared = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)

/** The number of hosts per badge, worst first. */
export function badgeCounts(rows: readonly HostRow[]): readonly (readonly [badge: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const { badge } of rows) counts.set(badge, (counts.get(badge) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => severity(a) - severity(b) || compared(a, b))
}

export const serversOf = (rows: readonly HostRow[]): readonly string[] =>
  [...new Set(rows.flatMap(({ server }) => server ?? []))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
