import { acmeDirectory } from '../certificates/acme/directory.ts'
import type { BudgetReader, CertificateInventory } from '../certificates/contract.ts'
import type { Config } from '../config/config.ts'
import { namesToOrder } from '../config/zones.ts'
import { holdsExactly } from '../dns/read-back.ts'
import { dnsReader } from '../dns/reader.ts'
import type { EdgePreflight } from '../edge/contract.ts'
import { probeFairly } from '../observe/health-probe.ts'
import { nameHolder } from '../observe/name-in-use.ts'
import { type ObserveParts, observe } from '../observe/observe.ts'
import { denyOwnListeners, HEALTH_TIMEOUT_SECONDS, type PlanSettings } from '../plan/settings.ts'
import type { Store } from '../store/ports/store.ts'
import type { Observe } from '../usecases/exposer.ts'

interface ObserverParts {
  readonly store: Store
  readonly inventory: CertificateInventory
  readonly budget: BudgetReader
  readonly preflight: EdgePreflight | undefined
  readonly now: () => number
}

/** Observes everything that a plan depends on. Every part can only read, so planning cannot change anything. */
export function composeObserver(config: Config, { store, inventory, budget, preflight, now }: ObserverParts): Observe {
  const readers = new Map([...config.zones.values()].map(({ name, primary }) => [name, dnsReader(primary)]))
  const parts: Omit<ObserveParts, 'holder' | 'kept'> = {
    readBack: (reader, records) => holdsExactly(reader, records),
    readerFor: (zone) => {
      const reader = readers.get(zone)
      if (!reader) throw new Error(`Zone ${zone} has no DNS reader.`)
      return reader
    },
    resolver: config.resolver && dnsReader(config.resolver, { recursive: true }),
    probe: (target) => probeFairly(target, HEALTH_TIMEOUT_SECONDS * 1000),
    inventory,
    // Wrapped, so that planning has no method of the edge or of the budget that changes something.
    edge: preflight && { check: (host, tls) => preflight.check(host, tls) },
    budget: { check: (wish) => budget.check(wish) },
    directory: acmeDirectory({ url: config.acme.directory, caFile: config.acme.caFile }),
    aliasIn: (zone) => config.zones.get(zone)?.publish?.find(({ type }) => type === 'CNAME')?.value,
    caaIdentities: config.acme.caaIdentities,
    challenge: config.acme.challenge,
    certificateNames: namesToOrder(config.zones),
  }
  return (desired, own) =>
    observe({ ...parts, holder: (host) => nameHolder(store, host, now(), own?.ownPlan), kept: own?.kept }, desired)
}

export function planSettings({ servers, zones, edge, ports, listen, acme }: Config): PlanSettings {
  const address = servers.addresses[servers.primary] ?? ''
  const toPrimary = { type: address.includes(':') ? 'AAAA' : 'A', value: address } as const
  const edgeServers = [servers.primary, ...(servers.secondary ? [servers.secondary] : [])]
  return {
    targets: servers.targets,
    addresses: servers.addresses,
    zones: new Map([...zones].map(([name, { ttl, publish = [toPrimary] }]) => [name, { ttl, publish }])),
    edge,
    ports: denyOwnListeners(ports.allowed, listen.port, edge, edgeServers),
    challenge: acme.challenge,
  }
}
