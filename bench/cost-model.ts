import { fitLine } from './measure.ts'
import type { Unit } from './table.ts'

/** What the hosts of one installation cost. */
export interface Costs {
  readonly serviceMb: number
  readonly workerMb: number
  readonly edgeKb: number
  readonly storeKb: number
  readonly reloadMs: number
  readonly applyMs: number
  readonly monitorPercent: number
}

export interface CostPoint {
  readonly hosts: number
  readonly costs: Costs
}

interface Cost {
  readonly name: string
  readonly unit: Unit
  /** Where one installation ends. A choice, not a measurement. */
  readonly limit: number
}

export const COSTS: Readonly<Record<keyof Costs, Cost>> = {
  serviceMb: { name: 'memory of the service', unit: 'MB', limit: 1_000 },
  workerMb: { name: 'memory of one nginx worker', unit: 'MB', limit: 1_000 },
  edgeKb: { name: 'disk of one edge', unit: 'kB', limit: 10_000_000 },
  storeKb: { name: 'disk of store and state', unit: 'kB', limit: 10_000_000 },
  reloadMs: { name: 'bare nginx -t and HUP', unit: 'ms', limit: 1_000 },
  applyMs: { name: 'one apply', unit: 'ms', limit: 2_000 },
  monitorPercent: { name: 'the monitor every 30 s, of one core', unit: '%', limit: 80 },
}

/** The model of one cost: `fixed + perHost * hosts`. */
export interface CostModel extends Cost {
  readonly fixed: number
  readonly perHost: number
  readonly measured: readonly { readonly hosts: number; readonly value: number; readonly model: number }[]
  /** The number of hosts at which the limit is reached. Infinite for a cost that does not grow. */
  readonly mostHosts: number
}

/** The model of each cost is fitted to all sizes but the largest, so that the largest is a prediction to be held against. */
export function costModels(points: readonly CostPoint[]): CostModel[] {
  const bySize = points.toSorted((a, b) => a.hosts - b.hosts)
  return (Object.keys(COSTS) as (keyof Costs)[]).map((key) => {
    const cost = COSTS[key]
    const { a: fixed, b: perHost } = fitLine(
      bySize.slice(0, -1).map(({ hosts, costs }) => ({ x: hosts, y: costs[key] })),
    )
    const measured = bySize.map(({ hosts, costs }) => ({ hosts, value: costs[key], model: fixed + perHost * hosts }))
    const mostHosts = perHost > 0 ? Math.max(0, (cost.limit - fixed) / perHost) : Number.POSITIVE_INFINITY
    return { ...cost, fixed, perHost, measured, mostHosts }
  })
}

/** The hosts that one installation bears, in two digits: the cost that reaches its limit first decides. */
export function hostsOfOne(models: readonly CostModel[]): number {
  const least = Math.min(...models.map(({ mostHosts }) => mostHosts))
  if (!Number.isFinite(least)) return least
  const digit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, least))) - 1)
  return Math.round(least / digit) * digit
}
