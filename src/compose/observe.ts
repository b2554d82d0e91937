import { acmeDirectory } from '../certificates/acme/directory.ts'
import type { BudgetReader, CertificateInventory } from '../certificates/contract.ts'
import type { Config } from '../config/config.ts'
import { namesToOrder } from '../config/zones.ts'
import { holdsExactly, readSets } from '../dns/read-back.ts'
import { dnsReader } from '../dns/reader.ts'
import type { EdgePreflight } from '../edge/contract/edge.ts'
import { probeFairly } from '../observe/health-probe.ts'
import { nameHolder } from '../observe/name-in-use.ts'
import { type ObserveParts, observe } from '../observe/observe.ts'
import { denyOwnListeners, HEALTH_TIMEOUT_SECONDS, type PlanSettings } from '../plan/settings.ts'
import type { Clock } from '../primitives/clock.ts'
import { derived } from '../primitives/derived.ts'
import type { Store } from '../store/ports/store.ts'
import type { Observe } from '../usecases/planner.ts'
import type { ZoneClients } from './zone-clients.ts'

interface ObserverParts {
  readonly store: Store
  readonly clients: ZoneClients
  readonly inventory: CertificateInventory
  readonly budget: BudgetReader
  readonly preflight: EdgePreflight | undefined
  readonly site: ObserveParts['site']
  readonly clock: Clock
}

/** Observes everything that a plan depends on. Every part can only read, so planning cannot change anything. */
export function composeObserver(config: Config, sources: ObserverParts): Observe {
  const { store, clients, inventory, budget, preflight, site, clock } = sources
  const parts: Omit<ObserveParts, 'holder' | 'kept'> = {
    readBack: (reader, records) => holdsExactly(reader, records),
    readSets: (reader, names) => readSets(reader, names),
    site,
    readerFor: (zone) => {
      const reader = clients.primaryOf(zone)
      if (!reader) throw new Error(`Zone ${zone} has no DNS reader.`)
      return reader
    },
    resolver: config.resolver && dnsReader(config.resolver, { recursive: true, clock }),
    probe: ({ authority, ...target }) =>
      probeFairly(
        { ...target, ...(authority && { tls: true, trust: trustIn(config, authority) }) },
        HEALTH_TIMEOUT_SECONDS * 1000,
        undefined,
        clock,
      ),
    inventory,
    clock,
    // Wrapped, so that planning has no method of the edge or of the budget that changes something.
    edge: preflight && { check: (host, tls) => preflight.check(host, tls) },
    budget: { check: (wish) => budget.check(wish) },
    directory: acmeDirectory({ url: config.acme.directory, caFile: config.acme.caFile, clock }),
    aliasIn: (zone) => config.zones.get(zone)?.publish?.find(({ type }) => type === 'CNAME')?.value,
    caaIdentities: config.acme.caaIdentities,
    challenge: config.acme.challenge,
    certificateNames: (zone, host) => namesToOrder(config.zones, zone, host),
  }
  return (desired, own) =>
    observe(
      { ...parts, holder: (host) => nameHolder(store, host, clock.now(), own?.ownPlan), kept: own?.kept },
      desired,
    )
}

export function planSettings(config: Config): PlanSettings {
  const { servers, edge, listen, acme } = config
  const address = servers.addresses[servers.primary] ?? ''
  const toPrimary = { type: address.includes(':') ? 'AAAA' : 'A', value: address } as const
  const edgeServers = [servers.primary, ...(servers.secondary ? [servers.secondary] : [])]
  const zones = derived(
    () => config.zones,
    (present) => new Map([...present].map(([name, { ttl, publish = [toPrimary] }]) => [name, { ttl, publish }])),
  )
  const ports = derived(
    () => config.ports,
    ({ allowed }) => denyOwnListeners(allowed, listen.port, edge, edgeServers),
  )
  return {
    targets: servers.targets,
    addresses: servers.addresses,
    get zones() {
      return zones()
    },
    edge,
    get ports() {
      return ports()
    },
    challenge: acme.challenge,
    named: {
      passwords: Object.keys(config.options.passwords),
      authorities: Object.keys(config.options.authorities),
      snippets: Object.keys(config.options.snippets),
    },
  }
}

/** A plan names only authorities that the configuration has. */
const trustIn = ({ options }: Config, { id, name }: { readonly id: string; readonly name: string }) => ({
  caFile: options.authorities[id] ?? '',
  name,
})
