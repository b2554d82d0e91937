import type { Config } from '../config/config.ts'
import { Metrics } from '../metrics/metrics.ts'
import type { Board } from '../monitor/board.ts'
import type { WebhookReport } from '../notify/webhook-report.ts'
import type { StoreReads } from '../store/ports/store.ts'
import { measuredInstances } from './measured-instances.ts'
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
