import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkout } from '../lab/checkout.ts'
import type { Lab } from '../lab/lab.ts'
import { onLab } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { type CostPoint, type Costs, costModels } from './cost-model.ts'
import { oneByOne } from './exposures.ts'
import { atRest, testAndReload } from './floor.ts'
import { footprint } from './footprint.ts'
import { median, timed } from './measure.ts'
import { monitorCost } from './monitor.ts'
import { scalePage } from './scale-page.ts'
import { FULL, type Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'
import { versions } from './versions.ts'

/** Measures what hosts cost at several sizes, and fits a line to each cost. In full size it writes docs/scale.md. */
export async function benchModel({ model: size }: Sizes): Promise<Row[]> {
  const points: CostPoint[] = []
  for (const hosts of size.hosts)
    points.push({ hosts, costs: await onLab({ hosts, tls: 'wildcard' }, (lab) => costsOf(lab, size)) })
  const models = costModels(points)
  if (size === FULL.model)
    writeFileSync(join(checkout(), 'docs', 'scale.md'), scalePage(models, versions(), new Date()))
  return models.flatMap(({ name, unit, fixed, perHost, measured }) => [
    ...measured.map(({ hosts, value }) => row(`${name} at ${hosts} hosts`, unit, value)),
    row(`${name}, model: fixed`, unit, fixed),
    row(`${name}, model: per 1,000 hosts`, unit, 1_000 * perHost),
    ...measured.slice(-1).map(({ hosts, model }) => row(`${name}, model: at ${hosts} hosts`, unit, model)),
  ])
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
