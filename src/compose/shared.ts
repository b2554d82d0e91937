import { AuditTrail } from '../audit/trail.ts'
import { Admission } from '../authorize/admission.ts'
import { orderBudget } from '../certificates/budget/order-budget.ts'
import type { CertificateInventory, OrderBudget } from '../certificates/contract.ts'
import { certificateInventory } from '../certificates/stock/inventory.ts'
import { issuedFolder } from '../certificates/stock/issued-files.ts'
import type { Config } from '../config/config.ts'
import { zoneOf } from '../config/zones.ts'
import { EdgeTrust } from '../edge/authority/trust.ts'
import { Board } from '../monitor/board.ts'
import type { Clock } from '../primitives/clock.ts'
import { crashAt } from '../runs/engine/crash-points.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'
import { composeEdges } from './edges.ts'
import { planSettings } from './observe.ts'
import type { Secrets } from './open-store.ts'
import { ZoneClients } from './zone-clients.ts'

/** Before each look at the folders, those of other instances are fetched. Without the store the folders have to do. */
function upToDate(inventory: CertificateInventory, { update }: Secrets): CertificateInventory {
  const updated = () => update().catch(() => undefined)
  return {
    covering: (...asked) => updated().then(() => inventory.covering(...asked)),
    coveringEach: (...asked) => updated().then(() => inventory.coveringEach(...asked)),
    withFingerprint: (...asked) => updated().then(() => inventory.withFingerprint(...asked)),
    findings: (...asked) => updated().then(() => inventory.findings(...asked)),
  }
}

interface Surroundings {
  readonly store: Store
  readonly secrets: Secrets
  readonly instance: string
  readonly log: Log
  readonly clock: Clock
}

/** The parts that more than one other part is built with. */
export type Shared = ReturnType<typeof sharedParts>

export function sharedParts(config: Config, surroundings: Surroundings) {
  const { store, clock } = surroundings
  const { now } = clock
  const { secrets: shelf, instance, log } = surroundings
  const edges = composeEdges(config, new EdgeTrust({ shelf, instance, now }), log, clock)
  const primary = edges.get(config.servers.primary)
  const isShared = config.store.kind === 'postgres'
  const inventory = certificateInventory(config.certificates, {
    issued: issuedFolder(config.stateDir),
    installed: shelf.installed,
    prefersWildcard: (host) => zoneOf(config.zones, host)?.certificate === 'wildcard',
    clock,
  })
  return {
    ...surroundings,
    /** For parts that set no timers. */
    now,
    trail: new AuditTrail(store),
    settings: planSettings(config),
    admission: new Admission(config, () => config.adminTokenValue?.reveal()),
    /** Other instances may work on the same store. */
    isShared,
    inventory: isShared ? upToDate(inventory, surroundings.secrets) : inventory,
    budget: budgetOf(config, store, now),
    board: new Board(),
    edges,
    clients: new ZoneClients(config, clock),
    preflight: primary?.preflight,
    crashPoint: crashAt(process.env.DRAWBRIDGE_CRASH_AT, process.env.DRAWBRIDGE_STOP_AT),
    leaseMs: config.instances.takeOverSeconds * 1000,
  }
}

function budgetOf(config: Config, ledger: Store, now: () => number): OrderBudget {
  const { directory, limits, backoff } = config.acme
  const domainOf = (name: string) => zoneOf(config.zones, name)?.registeredDomain ?? name
  return orderBudget({ directory, limits, backoff, domainOf, ledger, now })
}
