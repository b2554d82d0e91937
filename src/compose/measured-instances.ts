import type { Config } from '../config/config.ts'
import type { MeasuredInstances } from '../metrics/metrics.ts'
import type { Clock } from '../primitives/clock.ts'
import type { Store, StoreReads } from '../store/ports/store.ts'

/** The work that one instance does at a time, by the name of its lease. */
const DUTIES = ['monitor', 'webhooks', 'duty renew', 'duty converge', 'duty prune']
/** A scrape does not wait longer for a store that hangs. */
const PATIENCE_MS = 2_000

/** What the metrics tell of the instances on this store. */
export function measuredInstances(
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
