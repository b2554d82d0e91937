import type { Lab } from '../lab/lab.ts'
import type { ServiceConfig } from '../lab/service-config.ts'
import { onLab, startService } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { type OneByOne, oneByOne } from './exposures.ts'
import { floorOf } from './floor.ts'
import { median, timed } from './measure.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'

/** One apply and one remove over HTTP, in alternation with the minimal work on one edge. */
export function benchApply({ apply: size }: Sizes): Promise<Row[]> {
  return onLab({ hosts: size.hosts, tls: 'wildcard' }, async (lab) => {
    const wildcard = await measure(lab, 'wildcard', size)
    await startService(lab, size.hosts, withoutWildcard)
    const own = await measure(lab, 'own', size)
    await startService(lab, size.hosts, withoutSecondary)
    const alone = await measure(lab, 'alone', size)
    return [
      ...rowsOf(`${size.hosts} hosts, wildcard`, wildcard, { floor: 1, remove: 1.2 }),
      row('one apply with its own certificate : one by wildcard', '×', median(own.apply) / median(wildcard.apply), {
        most: 2,
      }),
      ...rowsOf(`${size.hosts} hosts, own certificate from Pebble`, own),
      ...rowsOf(`${size.hosts} hosts, wildcard, the Primary alone`, alone),
    ]
  })
}

interface Measured extends OneByOne {
  readonly floor: readonly number[]
}

async function measure({ description: lab }: Lab, prefix: string, size: Sizes['apply']): Promise<Measured> {
  const caller = new Caller(lab)
  const bare = floorOf(lab)
  const floor: number[] = []
  const between = async (round: number) => {
    const took = await timed(() => bare(`${prefix}-floor-${round + size.warmUp}`))
    if (round >= 0) floor.push(took)
  }
  const times = await oneByOne(caller, lab, { prefix, rounds: size.rounds, warmUp: size.warmUp, between })
  caller.close()
  return { ...times, floor }
}

function rowsOf(
  where: string,
  { apply, remove, floor, steps }: Measured,
  most?: { readonly floor: number; readonly remove: number },
): Row[] {
  return [
    row(`${where}: one apply`, 'ms', apply),
    row(`${where}: bare nginx -t, HUP, UPDATE on one edge`, 'ms', floor),
    row(`${where}: apply : bare`, '×', median(apply) / median(floor), most && { most: most.floor }),
    row(`${where}: one remove`, 'ms', remove),
    row(`${where}: remove : apply`, '×', median(remove) / median(apply), most && { most: most.remove }),
    ...[...steps].map(([name, ms]) => row(`${where}: step ${name}`, 'ms', ms)),
  ]
}

function withoutSecondary(config: ServiceConfig): ServiceConfig {
  const { servers, edges } = config as { servers: object; edges: Record<string, unknown> }
  return { ...config, servers: { ...servers, secondary: 'none' }, edges: { 23: edges['23'] } }
}

/** The hosts that are there keep the wildcard certificate, but the service cannot use it for new ones. */
const withoutWildcard = (config: ServiceConfig): ServiceConfig => ({ ...config, certificates: [] })
