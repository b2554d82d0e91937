import type { HostRow } from '../api/hosts.ts'
import { severity } from '../parts/badge-kind.ts'
import { isDown } from '../status/attention.ts'

/** A server with more names than this shows those in trouble only. */
const MOST_NAMES = 24
const MOST_IN_TROUBLE = 12
const MOST_PORTS = 8

/** The names of each server, the worst first. */
export function serversOf(rows: readonly HostRow[]): readonly (readonly [string, readonly HostRow[]])[] {
  const servers = new Map<string, HostRow[]>()
  for (const row of rows) {
    const server = row.server ?? 'none'
    const names = servers.get(server)
    if (names) names.push(row)
    else servers.set(server, [row])
  }
  return [...servers]
    .map(([server, names]) => {
      const worstFirst = names.toSorted((a, b) => severity(a.badge) - severity(b.badge) || a.host.localeCompare(b.host))
      return [server, worstFirst] as const
    })
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
}

/** `names`: the worst first. */
export function namesToShow(names: readonly HostRow[]): {
  readonly shown: readonly HostRow[]
  readonly others: number
} {
  const isMany = names.length > MOST_NAMES
  const shown = isMany ? names.filter((row) => isDown(row) || row.badge === 'DRIFT').slice(0, MOST_IN_TROUBLE) : names
  return { shown, others: names.length - shown.length }
}

/** The ports of a server with most names. Callers outside see none. */
export function portsOf(names: readonly HostRow[]): readonly (readonly [port: number, count: number])[] {
  const ports = new Map<number, number>()
  for (const { port } of names) if (port !== undefined) ports.set(port, (ports.get(port) ?? 0) + 1)
  return [...ports].sort(([a, left], [b, right]) => right - left || a - b).slice(0, MOST_PORTS)
}
