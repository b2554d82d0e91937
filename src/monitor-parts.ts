import { compareWithApplied } from './apply/compare.ts'
import type { Runs } from './apply/runs.ts'
import type { Config } from './config/config.ts'
import type { EdgeReader } from './edge/reading/contract.ts'
import { edgeVisitor } from './edge/visitor.ts'
import type { Equipment } from './equip.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Sightings } from './model/host-status.ts'
import type { Board } from './monitor/board.ts'
import { Monitor } from './monitor/monitor.ts'
import type { Store } from './store/contract.ts'

interface MonitorSurroundings extends Equipment {
  readonly store: Store
  readonly runs: Runs
  readonly board: Board
  readonly reader: EdgeReader | undefined
  readonly metrics: Metrics
  readonly instance: string
  readonly log: Log
}

/** The monitor on what the configuration names: the Primary's edge as it is, and the books of what was applied. */
export function monitorOf({ servers, edge, edges, monitor, instances }: Config, parts: MonitorSurroundings): Monitor {
  const { metrics, store } = parts
  const compared = async (host: string) => {
    const exposure = await store.findExposure(host)
    const plan = exposure && (await store.findPlan(exposure.planId))
    return plan && compareWithApplied(exposure, plan, parts)
  }
  const primary = edges[servers.primary]
  return new Monitor({
    ...parts,
    edge: primary &&
      parts.reader && {
        reader: parts.reader,
        surroundings: { addresses: servers.addresses, edge: { address: primary.address, ports: edge } },
      },
    visitor: edgeVisitor(monitor.timeoutSeconds * 1000),
    compare: async (host) => standingOf(await comparedTwice(() => compared(host))),
    listenToRuns: (listener) => parts.runs.listen(listener),
    onCheck: (status) => metrics.check(status),
    everyMs: monitor.everySeconds * 1000,
    atOnce: monitor.atOnce,
    leaseMs: instances.takeOverSeconds * 1000,
  })
}

type Compared = Awaited<ReturnType<typeof compareWithApplied>> | undefined

/** Twice where a file seems edited: a run or a renewal may have written it since the books were read. */
async function comparedTwice(look: () => Promise<Compared>): Promise<Compared> {
  const seen = await look()
  return seen && seen.edited.length > 0 ? look() : seen
}

function standingOf(seen: Compared): Pick<Sightings, 'dns' | 'file'> {
  if (!seen) return { dns: null, file: null }
  const dns = seen.held === 'unknown' ? null : seen.held === 'yes' ? 'ours' : 'not_ours'
  return { dns, file: seen.edited.length === 0 ? 'unchanged' : 'edited' }
}
