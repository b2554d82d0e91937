import type { Edge } from '../edge/contract/edge.ts'
import { EdgeFault, isFenced } from '../edge/contract/fault.ts'
import type { HostFence } from '../model/run.ts'
import type { StoreIdentity } from '../store/ports/identity.ts'

/** The same edge. When it is prepared, it learns the store, and from then on refuses changes from an earlier epoch of the store. */
export const showingStore = (edge: Edge, store: Pick<StoreIdentity, 'storeId' | 'epoch'>): Edge => ({
  ...edge,
  prepare: async (signal) => {
    const show = async () =>
      edge.change({ items: [], floor: { store: await store.storeId(), epoch: await store.epoch() } })
    // An edge whose nginx is broken takes the epoch as well. An edge without a folder takes it after it is prepared.
    await show().catch((error: unknown) => {
      if (isFenced(error)) throw error
    })
    await edge.prepare(signal)
    await show()
  },
})

interface FencedEdges {
  readonly primary: Pick<Edge, 'change'> | undefined
  readonly secondary: Pick<Edge, 'change'> | undefined
}

/**
 * Makes both edges refuse what a former holder of the run has sent. Rejects if the Primary refuses the fences or is away. The Secondary
 * decides nothing, so its faults are ignored. An edge that cannot be written reports that in its step.
 */
export async function raiseFences({ primary, secondary }: FencedEdges, fences: readonly HostFence[]): Promise<void> {
  const items = fences.map((fence) => ({ host: fence.host, fence, expected: 'any', wanted: 'same' }) as const)
  const raised = primary?.change({ items }).catch((error: unknown) => {
    if (isFenced(error) || (error instanceof EdgeFault && error.kind === 'away')) throw error
  })
  await Promise.all([raised, secondary?.change({ items }).catch(() => undefined)])
}
