import { join, sep } from 'node:path'
import { AuditTrail } from '../audit/trail.ts'
import { Admission } from '../authorize/admission.ts'
import { CallerRules } from '../authorize/caller.ts'
import { acmeDirectory } from '../certificates/acme/directory.ts'
import { renewalAdvisor } from '../certificates/acme/renewal-info.ts'
import { orderBudget } from '../certificates/budget/order-budget.ts'
import type { BudgetReader, CertificateInventory, OrderBudget } from '../certificates/contract.ts'
import { certificateInventory } from '../certificates/stock/inventory.ts'
import { issuedFolder } from '../certificates/stock/issued-files.ts'
import type { Config } from '../config/config.ts'
import { Secret } from '../config/secret.ts'
import { namesToOrder, zoneOf } from '../config/zones.ts'
import { dnsReader } from '../dns/reader.ts'
import type { EdgePreflight } from '../edge/contract.ts'
import { edgePreflight, type LocalPreflight } from '../edge/preflight.ts'
import type { EdgeReader } from '../edge/reading/contract.ts'
import { edgeReader } from '../edge/reading/edge-reader.ts'
import { readTlsFiles } from '../http/certificate-reload.ts'
import { createServer } from '../http/server.ts'
import { Metrics } from '../metrics/metrics.ts'
import type { Plan } from '../model/exposure.ts'
import { Board } from '../monitor/board.ts'
import { DebugLogWatch } from '../monitor/debug-log-watch.ts'
import { EventFeed } from '../notify/event-feed.ts'
import { reportWebhooks, type WebhookReport } from '../notify/webhook-report.ts'
import { type Hook, keyOf, sender } from '../notify/webhook-request.ts'
import { Deliverer } from '../notify/webhook-sender.ts'
import { probeFairly } from '../observe/health-probe.ts'
import { nameHolder } from '../observe/name-in-use.ts'
import { type ObserveParts, observe } from '../observe/observe.ts'
import type { Service } from '../operate/serve.ts'
import { denyOwnListeners, HEALTH_TIMEOUT_SECONDS, type PlanSettings } from '../plan/settings.ts'
import { crashAt } from '../runs/engine/crash-points.ts'
import { type Publish, Runs } from '../runs/engine/runs.ts'
import { housekeeping } from '../runs/housekeeping.ts'
import { type RenewalParts, Renewals } from '../runs/renewal/renewals.ts'
import { assertEquipped, stepsFor } from '../runs/steps/steps.ts'
import { type Claim, claimInstance, claimStateFolder } from '../runtime/instance.ts'
import type { Log } from '../runtime/log.ts'
import { VERSION } from '../runtime/version.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/ports/store.ts'
import { Exposer, type Observe } from '../usecases/exposer.ts'
import { describePolicy } from '../usecases/policy.ts'
import { PlanProgress } from '../usecases/progress.ts'
import { diagnoserOf } from './diagnoser.ts'
import { monitorOf } from './monitor.ts'
import { equip, type RunEquipment } from './runs.ts'

/** The service and what the commands on this machine work with. */
export type Assembly = Service &
  RunEquipment & {
    readonly runs: Runs
    readonly hooks: readonly Hook[]
    readonly webhookReport: () => Promise<readonly WebhookReport[]>
    readonly instance: string
    readonly now: () => number
  }

interface AssembleOptions {
  /** The one clock of what is decided. */
  readonly now?: (() => number) | undefined
  /** The hold on the state folder, where it is taken already. It is released when the store is closed. */
  readonly claim?: Claim
  /** Whether an older store is brought up to date: only the service does that. */
  readonly upgrade?: boolean
}

/** The composition root: with equip.ts the only file that builds concrete parts and ties them. */
export async function assemble(config: Config, log: Log, options: AssembleOptions = {}): Promise<Assembly> {
  const { now = Date.now, upgrade = true } = options
  claimStateFolder(config.stateDir)
  const claim = options.claim ?? claimInstance(config.stateDir)
  const { name: instance } = claim
  const opened = await open(config, upgrade).catch((error: unknown) => {
    claim.release()
    throw error
  })
  const store: Store = { ...opened, close: () => opened.close().finally(() => claim.release()) }
  const trail = new AuditTrail(store)
  const settings = planSettings(config)
  const admission = new Admission(config, config.adminTokenValue?.reveal())
  const inventory = certificateInventory(config.certificates, {
    issued: issuedFolder(config.stateDir),
    prefersWildcard: (host) => zoneOf(config.zones, host)?.certificate === 'wildcard',
  })
  const crashPoint = crashAt(process.env.DRAWBRIDGE_CRASH_AT)
  const budget = budgetOf(config, store, now)
  const reader = primaryReader(config)
  const preflight = reader && preflightOf(config, reader)
  const loaded = (since: number) => preflight?.markLoaded(since)
  const equipment = equip({ config, store, inventory, budget, instance, crashPoint, loaded, log, now })
  const steps = { ...equipment, recheck: (plan: Plan) => exposer.recheck(plan) }
  const publish: Publish = (host, commit) =>
    monitor.publish(host, async () => {
      const committed = await commit()
      diagnoser.forget(host)
      return committed
    })
  const runs = new Runs({
    store,
    trail,
    log,
    instance,
    leaseMs: config.instances.takeOverSeconds * 1000,
    crashPoint,
    publish,
    now,
    stepsFor: async (plan, run) => stepsFor(steps, plan, run, (await store.findExposure(plan.host))?.receipt),
  })
  runs.listen((entry) => void metrics.journal(entry).catch(() => undefined))
  const renewals = renewalsOf(config, equipment, { store, instance, leaseMs: runs.leaseMs, log })
  const exposer: Exposer = new Exposer({
    settings,
    planTtlSeconds: config.plan.ttlSeconds,
    observe: observerOf(config, { store, inventory, budget, edge: preflight, now }),
    store,
    trail,
    admission,
    runs,
    publish,
    renewals,
    tellCertificate: (host, validity) => monitor.tellCertificate(host, validity),
    assertEquipped: (zone) => assertEquipped(equipment, zone),
    instance,
    now,
  })
  const board = new Board()
  const hooks = hooksOf(config)
  const webhookReport = () => reportWebhooks(hooks, store)
  const metrics = new Metrics({
    hosts: () => board.all(),
    queues: {
      checks: () => monitor.waiting,
      runs: () => runs.underWay,
      deliveries: async () => (await webhookReport()).reduce((sum, { pending }) => sum + pending, 0),
      dead_letters: async () => (await webhookReport()).reduce((sum, { dead }) => sum + dead, 0),
    },
    findRun: (runId) => store.findRun(runId),
    now,
  })
  const edges = [equipment.primary, equipment.secondary].filter((edge) => edge !== undefined)
  const debugLogs = new DebugLogWatch(edges, log)
  const diagnoser = diagnoserOf(config, settings, { store, reader, board, log, now })
  const monitor = monitorOf(config, { ...equipment, store, runs, board, metrics, reader, instance, log })
  const app = await createServer({
    version: VERSION,
    exposer,
    progress: new PlanProgress(store, runs),
    events: new EventFeed(store),
    audit: store,
    webhooks: webhookReport,
    board,
    upToDate: (host) => monitor.upToDate(host),
    showsUnmanaged: config.status.showUnmanaged === 'public',
    diagnoser,
    metrics,
    policy: (caller) => describePolicy(config, settings.ports, VERSION, caller),
    pageFolder: PAGE_FOLDER,
    callers: new CallerRules(config.internalNetworks, config.trustedProxies),
    admission,
    trail,
    publicUrls: config.publicUrls,
    rateLimits: config.rateLimits,
    isReady: () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    warnings: () => debugLogs.warnings,
    now,
    log,
    tls: config.listen.tls && readTlsFiles(config.listen.tls),
  })
  const parts = { ...equipment, store, runs, renewals, exposer, debugLogs, instance, log, now }
  return {
    ...parts,
    app,
    trail,
    admission,
    upkeep: housekeeping(parts),
    monitor,
    hooks,
    webhookReport,
    deliverer: new Deliverer(hooks, {
      ...{ store, log, instance, now, chance: Math.random, send: sender() },
      leaseMs: config.instances.takeOverSeconds * 1000,
    }),
  }
}

/** Of the Primary's nginx, where it is on this machine. */
function primaryReader({ edges, servers }: Config): EdgeReader | undefined {
  const primary = edges[servers.primary]
  return primary && edgeReader(primary)
}

function preflightOf({ edges, servers, edge }: Config, reader: EdgeReader): LocalPreflight | undefined {
  const primary = edges[servers.primary]
  return primary && edgePreflight({ ...primary, server: servers.primary, ports: edge }, reader)
}

const hooksOf = ({ webhooks }: Config): Hook[] =>
  webhooks.map(({ name, url, secret, events, hosts, tries, timeoutSeconds }) => ({
    name,
    url: url.reveal(),
    key: keyOf(secret.reveal()),
    types: events && new Set(events),
    hosts: hosts && new Set(hosts),
    tries,
    timeoutMs: timeoutSeconds * 1000,
  }))

/** The built page. This file runs as src/compose/, as dist/src/compose/ and, bundled, as dist/service/. */
const ANCESTORS = import.meta.dirname.split(sep)
const PAGE_FOLDER = ANCESTORS.includes('dist')
  ? join(ANCESTORS.slice(0, ANCESTORS.lastIndexOf('dist') + 1).join(sep), 'web')
  : join(import.meta.dirname, '..', '..', 'dist', 'web')

export const open = ({ store }: Config, upgrade: boolean): Promise<Store> =>
  openStore(store.kind === 'sqlite' ? store : { kind: 'postgres', url: store.url.reveal() }, { upgrade })

/** What no log line may show. */
export function secretsOf({ adminTokenValue, store, zones, acme, webhooks }: Config): Secret[] {
  const keys = [...zones.values()].map(({ tsig }) => tsig?.secret)
  const receivers = webhooks.flatMap(({ url, secret }) => [url, secret])
  const secrets = [adminTokenValue, acme.externalAccount?.hmacKey, acme.accountKey, ...keys, ...receivers].filter(
    (secret) => secret !== undefined,
  )
  if (store.kind === 'sqlite') return secrets
  const { password } = new URL(store.url.reveal())
  return [...secrets, store.url, new Secret(password), new Secret(decodeURIComponent(password))]
}

function budgetOf({ acme, zones }: Config, ledger: Store, now: () => number): OrderBudget {
  const { directory, limits, backoff } = acme
  const domainOf = (name: string) => zoneOf(zones, name)?.registeredDomain ?? name
  return orderBudget({ directory, limits, backoff, domainOf, ledger, now })
}

/** Undefined where no edge serves: then nothing is looked after. */
function renewalsOf(
  { acme, renewal }: Config,
  { primary, ...equipment }: RunEquipment,
  books: Pick<RenewalParts, 'store' | 'instance' | 'leaseMs' | 'log'>,
): Renewals | undefined {
  if (!primary) return undefined
  const { now } = equipment
  const directory = acmeDirectory({ url: acme.directory, caFile: acme.caFile })
  return new Renewals({
    ...equipment,
    ...books,
    primary,
    advisor: renewalAdvisor({ directory, caFile: acme.caFile, now }),
    retry: { firstMs: renewal.retryFirstSeconds * 1000, factor: 2, longestMs: renewal.retryCapSeconds * 1000 },
  })
}

interface ObserverSources {
  readonly store: Store
  readonly inventory: CertificateInventory
  readonly budget: BudgetReader
  readonly edge: EdgePreflight | undefined
  readonly now: () => number
}

/** Looks at the world for a plan. Every part of it can only read. */
function observerOf(config: Config, { store, inventory, budget, edge, now }: ObserverSources): Observe {
  const readers = new Map([...config.zones.values()].map(({ name, primary }) => [name, dnsReader(primary)]))
  const parts: Omit<ObserveParts, 'holder'> = {
    readerFor: (zone) => {
      const reader = readers.get(zone)
      if (!reader) throw new Error(`zone ${zone} has no reader`)
      return reader
    },
    resolver: config.resolver && dnsReader(config.resolver, { recursive: true }),
    probe: (target) => probeFairly(target, HEALTH_TIMEOUT_SECONDS * 1000),
    inventory,
    // Nothing of it can change a file or a process.
    edge: edge && { check: (host, tls) => edge.check(host, tls) },
    // Nothing but the look: what plans cannot spend.
    budget: { check: (wish) => budget.check(wish) },
    directory: acmeDirectory({ url: config.acme.directory, caFile: config.acme.caFile }),
    aliasIn: (zone) => config.zones.get(zone)?.publish?.find(({ type }) => type === 'CNAME')?.value,
    caaIdentities: config.acme.caaIdentities,
    challenge: config.acme.challenge,
    certificateNames: namesToOrder(config.zones),
  }
  return (desired, ownPlan) => observe({ ...parts, holder: (host) => nameHolder(store, host, now(), ownPlan) }, desired)
}

function planSettings({ servers, zones, edge, ports, listen }: Config): PlanSettings {
  const address = servers.addresses[servers.primary] ?? ''
  const toPrimary = { type: address.includes(':') ? 'AAAA' : 'A', value: address } as const
  const edgeServers = [servers.primary, ...(servers.secondary ? [servers.secondary] : [])]
  return {
    targets: servers.targets,
    addresses: servers.addresses,
    zones: new Map([...zones].map(([name, { ttl, publish = [toPrimary] }]) => [name, { ttl, publish }])),
    edge,
    ports: denyOwnListeners(ports.allowed, listen.port, edge, edgeServers),
  }
}
