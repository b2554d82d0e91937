import type { Config } from '../config/config.ts'
import { type MeasuredInstances, Metrics } from '../metrics/metrics.ts'
import type { Board } from '../monitor/board.ts'
import type { WebhookReport } from '../notify/webhook-report.ts'
import type { Clock } from '../primitives/clock.ts'
import type { Store, StoreReads } from '../store/ports/store.ts'
import { type OperationParts, operationSources } from './operation-sources.ts'

interface MetricParts extends OperationParts {
  readonly reads: StoreReads
  readonly board: Board
  readonly webhookReport: () => Promise<readonly WebhookReport[]>
}

/** The metrics of this instance. Parts that are built later add their queues. */
export function composeMetrics(config: Config, parts: MetricParts): Metrics {
  const { store, clock, board, standings, webhookReport } = parts
  return new Metrics({
    hosts: () => board.all(),
    queues: {
      deliveries: async () => (await webhookReport()).reduce((sum, { pending }) => sum + pending, 0),
      dead_letters: async () => (await webhookReport()).reduce((sum, { dead }) => sum + dead, 0),
    },
    edges: () =>
      standings.all.map(({ server, behind, orphans, doubtful, unknown, outOfStep }) => ({
        server,
        counts: { behind: behind.length, orphans: orphans.length + doubtful.length, unknown: unknown.length },
        outOfStep,
      })),
    instances: measuredInstances(config, parts),
    findRun: (runId) => store.findRun(runId),
    operation: operationSources(config, parts),
    clock,
  })
}

/** The work that one instance does at a time, by the name of its lease. */
const DUTIES = ['monitor', 'webhooks', 'duty renew', 'duty converge', 'duty prune']
/** A scrape does not wait longer for a store that hangs. */
const PATIENCE_MS = 2_000

/** What the metrics tell of the instances on this store. */
function measuredInstances(
  { servers }: Config,
  { store, reads, clock }: { readonly store: Store; readonly reads: StoreReads; readonly clock: Clock },
): () => Promise<MeasuredInstances> {
  const edges = [servers.primary, servers.secondary].filter((server) => server !== undefined)
  const ask = async (): Promise<Omit<MeasuredInstances, 'unconfirmedMs'>> => {
    const at = clock.now()
    const [alive, leases] = await Promise.all([
      store.liveInstances(at),
      Promise.all(DUTIES.map((name) => store.findLease(name, at))),
    ])
    return {
      storeAnswers: true,
      alive: alive.map(({ name, address, version, edges: reached }) => ({
        name,
        address,
        version,
        reaches: Object.fromEntries(edges.map((server) => [server, reached.includes(server)])),
      })),
      duties: leases
        .filter((lease) => lease !== undefined)
        .map(({ name, holder }) => ({ duty: name.replace('duty ', ''), name: holder })),
    }
  }
  const silence = { storeAnswers: false, alive: [], duties: [] }
  return async () => {
    const answer = ask().catch(() => silence)
    const late = clock.sleep(PATIENCE_MS, { ref: false }).then(() => silence)
    const found = await Promise.race([answer, late])
    return { ...found, unconfirmedMs: reads.unconfirmedMs() }
  }
}
