import type { Lab } from '../lab/lab.ts'
import { onLab } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { oneByOne } from './exposures.ts'
import { atRest, testAndReload } from './floor.ts'
import { type Footprint, footprint } from './footprint.ts'
import { fitLine, median, timed } from './measure.ts'
import { monitorCost } from './monitor.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row, type Unit } from './table.ts'

interface Costs extends Footprint {
  readonly reloadMs: number
  readonly applyMs: number
  readonly monitorPercent: number
}

const COSTS: Readonly<Record<keyof Costs, { readonly name: string; readonly unit: Unit }>> = {
  serviceMb: { name: 'memory of the service', unit: 'MB' },
  workerMb: { name: 'memory of one nginx worker', unit: 'MB' },
  edgeKb: { name: 'disk of one edge', unit: 'kB' },
  storeKb: { name: 'disk of store and state', unit: 'kB' },
  reloadMs: { name: 'bare nginx -t and HUP', unit: 'ms' },
  applyMs: { name: 'one apply', unit: 'ms' },
  monitorPercent: { name: 'share of one core that the monitor takes', unit: '%' },
}

/**
 * Measures what hosts cost at several sizes and fits `fixed + n * per thousand hosts` to each cost: the figures of
 * docs/scale.md. The model is held against every size: the last row of each tells how far it is off at worst.
 */
export async function benchModel({ model: size }: Sizes): Promise<Row[]> {
  const points: { hosts: number; costs: Costs }[] = []
  for (const hosts of size.hosts)
    points.push({ hosts, costs: await onLab({ hosts, tls: 'wildcard' }, (lab) => costsOf(lab, size)) })
  return (Object.keys(COSTS) as (keyof Costs)[]).flatMap((cost) => {
    const { name, unit } = COSTS[cost]
    const measured = points.map(({ hosts, costs }) => ({ x: hosts, y: costs[cost] }))
    const { a, b } = fitLine(measured)
    const errors = measured.map(({ x, y }) => (100 * Math.abs(a + b * x - y)) / y)
    return [
      ...measured.map(({ x, y }) => row(`${name} at ${x} hosts`, unit, y)),
      row(`${name}, model: fixed`, unit, a),
      row(`${name}, model: per thousand hosts`, unit, 1_000 * b),
      row(`${name}, model: off by at most`, '%', Math.max(...errors)),
    ]
  })
}

async function costsOf(lab: Lab, { rounds, measureMs }: Sizes['model']): Promise<Costs> {
  const { description } = lab
  const { percent } = await monitorCost(description, measureMs)
  const caller = new Caller(description)
  const { apply } = await oneByOne(caller, description, { prefix: 'model', rounds, warmUp: 2 })
  caller.close()
  const reloads: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    reloads.push(await timed(() => testAndReload(description.edges.primary)))
    await atRest(description)
  }
  return { ...footprint(lab), reloadMs: median(reloads), applyMs: median(apply), monitorPercent: percent }
}
