import type { CertificateInventory } from '../certificates/contract.ts'
import type { Config } from '../config/config.ts'
import { isPublic } from '../config/status.ts'
import { zoneOf } from '../config/zones.ts'
import type { Difference } from '../diagnose/drift.ts'
import { addressesOf } from '../dns/addresses.ts'
import { readSets } from '../dns/read-back.ts'
import { dnsReader } from '../dns/reader.ts'
import type { Board } from '../monitor/board.ts'
import { factsOf } from '../monitor/judge.ts'
import type { PlanSettings } from '../plan/settings.ts'
import type { Clock } from '../primitives/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { StoreReads } from '../store/ports/store.ts'
import { Diagnoser } from '../usecases/diagnoser.ts'
import { type DriftParts, findDrift } from '../usecases/drift.ts'
import { dnsStandingReader } from './dns-standing.ts'
import type { EdgeAccesses } from './edges.ts'
import type { ZoneClients } from './zone-clients.ts'

/** Older lines of the nginx error log say nothing about the present fault. */
const RECENT_MS = 15 * 60_000

interface DiagnoserSources {
  readonly reads: StoreReads
  readonly edges: EdgeAccesses
  readonly clients: ZoneClients
  /** What the monitor knows of every host. */
  readonly board: Board
  readonly drift: (planId: string) => Promise<readonly Difference[]>
  readonly log: Log
  readonly clock: Clock
}

/** The diagnosis of this installation's hosts. Every part that it holds can only read. */
export function composeDiagnoser(
  config: Config,
  settings: PlanSettings,
  { reads, edges, clients, board, drift, log, clock }: DiagnoserSources,
): Diagnoser {
  const { servers, resolver } = config
  const primary = edges.get(servers.primary)
  const further = resolver && dnsReader(resolver, { recursive: true, clock })
  const ownAddresses = () => [primary?.view.address, servers.secondary && servers.addresses[servers.secondary]]
  return new Diagnoser({
    view: primary?.view,
    reader: primary?.reader,
    store: {
      findExposure: (host) => reads.findExposure(host),
      findPlan: (planId) => reads.findPlan(planId),
    },
    known: (host, planId) => {
      const status = board.find(host)
      return status && status.planId === planId ? factsOf(status, clock.now()) : null
    },
    standingOf: dnsStandingReader(clients),
    drift,
    patienceMs: config.monitor.timeoutSeconds * 1000,
    servers: servers.addresses,
    configFile: config.file,
    showsUnmanaged: (host) => isPublic(config.status, host),
    probePath: (host) => config.status.hosts.get(host)?.path,
    serverAt: (address) => Object.entries(servers.addresses).find(([, registered]) => registered === address)?.[0],
    get ports() {
      return settings.ports
    },
    resolve: async (name) => {
      const reader = clients.primaryOf(zoneOf(config.zones, name)?.name ?? '') ?? further
      return reader && addressesOf(reader, name)
    },
    destinationOf: (host) => {
      const zone = settings.zones.get(zoneOf(config.zones, host)?.name ?? '')
      const published = zone?.publish.map(({ value }) => value) ?? []
      const values = [...published, ...ownAddresses().filter((address) => address !== undefined)]
      return { values, isOurZone: zone !== undefined }
    },
    newestErrorClass: async (host) => {
      return (await primary?.view.newestErrorClass(host, clock.now() - RECENT_MS)) ?? null
    },
    onFault: (error, host) =>
      log.warn(
        { event: 'diagnosis_check_failed', err: error, host },
        'One check of a diagnosis failed; the diagnosis continues without it.',
      ),
    clock,
  })
}

interface DriftSources {
  readonly store: DriftParts['store']
  readonly edges: EdgeAccesses
  readonly clients: ZoneClients
  readonly inventory: Pick<CertificateInventory, 'withFingerprint'>
  readonly onSecondary: DriftParts['onSecondary']
}

/** Compares applied plans with the world. Every part can only read. */
export function composeDrift(
  config: Config,
  { store, edges, clients, inventory, onSecondary }: DriftSources,
): (planId: string) => Promise<readonly Difference[]> {
  const parts: DriftParts = {
    store: {
      findExposure: (host) => store.findExposure(host),
      findPlan: (planId) => store.findPlan(planId),
    },
    view: edges.get(config.servers.primary)?.view,
    onSecondary,
    hasCertificate: async (fingerprint) => (await inventory.withFingerprint(fingerprint)) !== undefined,
    readerFor: (zone) => clients.primaryOf(zone),
    readSets,
  }
  return (planId) => findDrift(parts, planId)
}
