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

/** Starts something. When it fails to start, stops what had started and rejects. */
export async function started<T extends Stoppable & { start(): Promise<void> }>(whole: T): Promise<T> {
  try {
    await whole.start()
    return whole
  } catch (error) {
    await whole.stop()
    throw error
  }
}

export interface PartsOptions {
  readonly addresses: Addresses
  readonly paths: StatePaths
  readonly records: readonly string[]
  readonly certificateSeconds: number | undefined
  /** Called with each process as soon as it is ready, so that it is stopped when another part fails. */
  readonly track: (name: string, daemon: Daemon) => void
  readonly trackRelays: (relays: Stoppable) => void
  readonly onProgress: (part: string) => void
}

/** Starts the network of the service, except the certificate authority, which starts slowly and is needed last. */
export const startNetwork = (options: PartsOptions): Promise<void> =>
  allOrFirstError([startDns, startEdges, startSamples, startBrowserRelays].map((start) => start(options)))

/** Waits for all parts even when one fails, because every started part must be stopped. */
export async function allOrFirstError(parts: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(parts)).find((part) => part.status === 'rejected')
  if (failed) throw failed.reason
}

async function startDns({ addresses, paths, records, track, onProgress }: PartsOptions): Promise<void> {
  const { dns, servers } = addresses
  const bind = await startBind({
    folder: paths.bind,
    port: dns.primary.port,
    secondaryPort: dns.secondary.port,
    zones: [{ name: ZONE, records }],
    tsig: tsigKey(paths),
    nameServers: [servers['23'], servers['73']],
  })
  track('dnsPrimary', bind.primary)
  if (bind.secondary) track('dnsSecondary', bind.secondary)
  onProgress(`BIND, primary and secondary of ${ZONE}`)
}

async function startEdges({ addresses, paths, track, onProgress }: PartsOptions): Promise<void> {
  const { edges } = describeLab(addresses, paths, {})
  await allOrFirstError([
    startEdge(edges.primary).then((edge) => track('edgePrimary', edge)),
    startEdge(edges.secondary).then((edge) => track('edgeSecondary', edge)),
  ])
  onProgress('nginx, the edges 23 and 73')
}

export async function startAcme({
  addresses,
  paths,
  certificateSeconds,
  track,
  onProgress,
}: PartsOptions): Promise<void> {
  const pebble = await startPebble({
    folder: paths.pebble,
    ...addresses.acme,
    dns: addresses.dns.primary,
    rootsFile: paths.ca,
    certificateSeconds,
  })
  track('acme', pebble)
  onProgress('Pebble, the certificate authority')
}

async function startSamples({ addresses, paths, track, onProgress }: PartsOptions): Promise<void> {
  track('backends', await startBackends(addresses.backends, paths.backendsLog))
  onProgress('sample backends on 25 (healthy) and 253 (not)')
}

async function startBrowserRelays({ addresses, trackRelays, onProgress }: PartsOptions): Promise<void> {
  trackRelays(await startRelays(Object.values(addresses.relays), addresses.service))
  onProgress('relays for browsers')
}
