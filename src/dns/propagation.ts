import { setTimeout as sleep } from 'node:timers/promises'
import type { DnsReader, ZoneRecord } from './contract.ts'
import { servedValues, valueIn } from './served.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000

/** `lagging`: the servers, by address and port, that did not say so with authority before the time was over. */
export type Propagation = { readonly ok: true } | { readonly ok: false; readonly lagging: readonly string[] }

/**
 * Waits until every server serves the record, whatever else stands beside it, or until none does any more. `limitMs` is
 * the limit of the whole wait.
 */
export async function awaitPropagation(
  servers: readonly DnsReader[],
  record: ZoneRecord,
  wanted: 'served' | 'gone',
  limitMs = 10_000,
): Promise<Propagation> {
  const timeIsUp = Promise.withResolvers<false>()
  const timer = setTimeout(() => timeIsUp.resolve(false), limitMs)
  const deadline = performance.now() + limitMs
  const arrivals = servers.map((server) =>
    Promise.race([arrives(server, record, wanted === 'served', deadline), timeIsUp.promise]),
  )
  const arrived = await Promise.all(arrivals)
  clearTimeout(timer)
  const lagging = servers.filter((_, i) => !arrived[i]).map(({ server }) => server)
  return lagging.length === 0 ? { ok: true } : { ok: false, lagging }
}

async function arrives(server: DnsReader, record: ZoneRecord, isWanted: boolean, deadline: number): Promise<boolean> {
  for (let pause = FIRST_PAUSE_MS; performance.now() < deadline; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const [outcome] = await server.ask([record])
    const values = outcome && servedValues(record, outcome)
    if (values?.has(valueIn(record)) === isWanted) return true
    await sleep(pause)
  }
  return false
}
