import type { Edge } from '../../edge/contract/edge.ts'
import type { RunStore } from '../../store/ports/runs.ts'
import type { Store } from '../../store/ports/store.ts'

interface SettleParts {
  readonly edges: readonly Pick<Edge, 'server' | 'unsettledRuns' | 'change'>[]
  readonly store: Pick<Store, 'storeId' | 'epoch'> & Pick<RunStore, 'unsettledRunIds'>
}

/**
 * Tells each edge which runs of this store have ended for good, so that the edge need not keep what stood before them. The edge is asked
 * before the store: a run that the edge knows has begun in the store by then. An edge that does not answer is told later. A former store
 * that still runs has the same id and does not know the runs of the restored one: its epoch is refused.
 */
export async function settleRuns({ edges, store }: SettleParts): Promise<void> {
  if (edges.length === 0) return
  const [id, epoch] = await Promise.all([store.storeId(), store.epoch()])
  await Promise.all(
    edges.map(async (edge) => {
      const known = await edge.unsettledRuns().catch(() => [])
      const own = known.filter((run) => run.store === id).map(({ run }) => run)
      if (own.length === 0) return
      const unsettled = new Set(await store.unsettledRunIds())
      const settled = own.filter((run) => !unsettled.has(run))
      if (settled.length > 0) {
        const floor = { store: id, epoch }
        await edge.change({ items: [], settles: settled, floor }).catch(() => undefined)
      }
    }),
  )
}
