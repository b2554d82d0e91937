import type { Lab } from '../lab/lab.ts'
import { startAgents } from './agents.ts'
import { onLab, startService } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { oneByOne } from './exposures.ts'
import { median } from './measure.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'

/** How the service reaches its edges, and at most how many times as long an apply may take as in the service's own process. */
const WAYS = [
  { way: 'process', name: 'in the process of the service' },
  { way: 'socket', name: 'through agents on a unix socket', most: 1.15 },
  { way: 'tls', name: 'through agents over mutual TLS, on loopback', most: 1.3 },
] as const

type Way = (typeof WAYS)[number]['way']
type Times = Record<Way, { apply: number[]; remove: number[]; steps: Map<string, number[]> }>

/** One apply and one remove with the edges in the process of the service and behind agents. The ways take turns on one lab. */
export function benchEdge({ edge: size }: Sizes): Promise<Row[]> {
  return onLab({ hosts: size.hosts, tls: 'wildcard', service: false }, async (lab) => {
    const none = () => ({ apply: [], remove: [], steps: new Map<string, number[]>() })
    const times: Times = { process: none(), socket: none(), tls: none() }
    let isEnrolled = false
    for (let turn = 0; turn < size.turns; turn += 1) {
      for (const { way } of WAYS) {
        const agents = way === 'process' ? undefined : await startAgents(lab, way)
        try {
          if (way === 'tls' && !isEnrolled && agents) {
            await lab.restartService((config) => agents.configure(config))
            await agents.enroll()
            isEnrolled = true
          }
          await startService(lab, size.hosts, (config) => agents?.configure(config) ?? config)
          await measure(lab, `${way}-${turn}`, size, times[way])
          await lab.stopService()
        } finally {
          await agents?.stop()
        }
      }
    }
    return rowsOf(size.hosts, times)
  })
}

async function measure(lab: Lab, prefix: string, size: Sizes['edge'], times: Times[Way]): Promise<void> {
  const caller = new Caller(lab.description)
  const { rounds, warmUp } = size
  const { apply, remove, steps } = await oneByOne(caller, lab.description, { prefix, rounds, warmUp })
  caller.close()
  times.apply.push(...apply)
  times.remove.push(...remove)
  for (const [name, ms] of steps) times.steps.set(name, [...(times.steps.get(name) ?? []), ...ms])
}

function rowsOf(hosts: number, times: Times): Row[] {
  const base = times.process
  return WAYS.flatMap(({ way, name, ...limit }) => {
    const { apply, remove, steps } = times[way]
    const where = `${hosts} hosts, ${name}`
    const ratios =
      'most' in limit
        ? [
            row(`${where}: apply : in the process`, '×', median(apply) / median(base.apply), { most: limit.most }),
            row(`${where}: remove : in the process`, '×', median(remove) / median(base.remove)),
          ]
        : []
    return [
      row(`${where}: one apply`, 'ms', apply),
      row(`${where}: one remove`, 'ms', remove),
      ...ratios,
      ...[...steps].map(([step, ms]) => row(`${where}: step ${step}`, 'ms', ms)),
    ]
  })
}
