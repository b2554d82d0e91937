import { type Addresses, ZONE } from './addresses.ts'
import { startBackends } from './backends.ts'
import { startBind } from './bind.ts'
import type { Daemon } from './daemon.ts'
import { describeLab } from './description.ts'
import { startEdge } from './nginx.ts'
import { startPebble } from './pebble.ts'
import { startRelays } from './relays.ts'
import { type StatePaths, tsigKey } from './state.ts'

export interface Stoppable {
  stop(): Promise<void>
}

export interface PartsOptions {
  readonly addresses: Addresses
  readonly paths: StatePaths
  readonly records: readonly string[]
  readonly certificateSeconds: number | undefined
  /** Called with each process as soon as it is ready, so that a failure elsewhere leaves none behind. */
  readonly keep: (name: string, daemon: Daemon) => void
  readonly keepRelays: (relays: Stoppable) => void
  readonly onProgress: (part: string) => void
}

/** The network that the service looks at. The certificate authority is apart: it is slow to start and needed last. */
export const startNetwork = (options: PartsOptions): Promise<void> =>
  allOrFirstError([startDns, startEdges, startSamples, startBrowserRelays].map((start) => start(options)))

/** Waits for all of them even when one fails: what still starts must be there to be stopped. */
export async function allOrFirstError(parts: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(parts)).find((part) => part.status === 'rejected')
  if (failed) throw failed.reason
}

async function startDns({ addresses, paths, records, keep, onProgress }: PartsOptions): Promise<void> {
  const { dns, servers } = addresses
  const bind = await startBind({
    folder: paths.bind,
    port: dns.primary.port,
    secondaryPort: dns.secondary.port,
    zones: [{ name: ZONE, records }],
    tsig: tsigKey(paths),
    nameServers: [servers['23'], servers['73']],
  })
  keep('dnsPrimary', bind.primary)
  if (bind.secondary) keep('dnsSecondary', bind.secondary)
  onProgress(`BIND, primary and secondary of ${ZONE}`)
}

async function startEdges({ addresses, paths, keep, onProgress }: PartsOptions): Promise<void> {
  const { edges } = describeLab(addresses, paths, {})
  keep('edgePrimary', await startEdge(edges.primary))
  keep('edgeSecondary', await startEdge(edges.secondary))
  onProgress('nginx, the edges 23 and 73')
}

export async function startAcme({
  addresses,
  paths,
  certificateSeconds,
  keep,
  onProgress,
}: PartsOptions): Promise<void> {
  const pebble = await startPebble({
    folder: paths.pebble,
    ...addresses.acme,
    dns: addresses.dns.primary,
    rootsFile: paths.ca,
    certificateSeconds,
  })
  keep('acme', pebble)
  onProgress('Pebble, the certificate authority')
}

async function startSamples({ addresses, paths, keep, onProgress }: PartsOptions): Promise<void> {
  keep('backends', await startBackends(addresses.backends, paths.backendsLog))
  onProgress('sample backends on 25 (healthy) and 253 (not)')
}

async function startBrowserRelays({ addresses, keepRelays, onProgress }: PartsOptions): Promise<void> {
  keepRelays(await startRelays(Object.values(addresses.relays), addresses.service))
  onProgress('relays for browsers')
}
