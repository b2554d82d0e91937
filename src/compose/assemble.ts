import { AuditTrail } from '../audit/trail.ts'
import { Admission } from '../authorize/admission.ts'
import { orderBudget } from '../certificates/budget/order-budget.ts'
import type { CertificateInventory, OrderBudget, OrderSecrets } from '../certificates/contract.ts'
import { certificateInventory } from '../certificates/stock/inventory.ts'
import { issuedFolder } from '../certificates/stock/issued-files.ts'
import { SharedPairs } from '../certificates/vault/shared-pairs.ts'
import { Vault } from '../certificates/vault/vault.ts'
import type { Config } from '../config/config.ts'
import { Secret } from '../config/secret.ts'
import { zoneOf } from '../config/zones.ts'
import { EdgeTrust, type SecretShelf } from '../edge/authority/trust.ts'
import { type MetricSources, Metrics } from '../metrics/metrics.ts'
import type { OperationSources } from '../metrics/operation-gauges.ts'
import { formatEndpoint } from '../model/address.ts'
import type { Plan } from '../model/exposure.ts'
import { Board } from '../monitor/board.ts'
import { DebugLogWatch } from '../monitor/edge-watch/debug-log-watch.ts'
import { UnreadWatch } from '../monitor/edge-watch/unread-watch.ts'
import { reportWebhooks, type WebhookReport } from '../notify/webhook-report.ts'
import { type Hook, keyOf, sender } from '../notify/webhook-request.ts'
import { WebhookSender } from '../notify/webhook-sender.ts'
import { Presence } from '../operate/presence.ts'
import type { Service } from '../operate/serve.ts'
import type { WithdrawParts } from '../operate/withdraw.ts'
import { type Clock, systemClock } from '../primitives/clock.ts'
import { derived } from '../primitives/derived.ts'
import type { Converge } from '../runs/converge.ts'
import { EdgePreparation } from '../runs/edge-preparation.ts'
import type { EdgeStandings } from '../runs/edge-standings.ts'
import { crashAt } from '../runs/engine/crash-points.ts'
import { aloneOnDuty, sharedDuty } from '../runs/engine/duty.ts'
import type { ResolveParts } from '../runs/engine/resolve.ts'
import type { Publish, Runs } from '../runs/engine/runs.ts'
import { housekeeping } from '../runs/housekeeping.ts'
import { Reach } from '../runs/reach.ts'
import { assertEquipped } from '../runs/steps/context.ts'
import { stepsOfRepair } from '../runs/steps/subject.ts'
import { type Claim, claimInstance, claimStateFolder } from '../runtime/instance.ts'
import type { Log } from '../runtime/log.ts'
import { ownAddress } from '../runtime/own-address.ts'
import { VERSION } from '../runtime/version.ts'
import { LastKnown } from '../store/last-known.ts'
import { type OpenOptions, openStore, type StoreSetting } from '../store/open.ts'
import type { Store, StoreReads } from '../store/ports/store.ts'
import { type DriftParts, seenOn } from '../usecases/drift.ts'
import { Exposer } from '../usecases/exposer.ts'
import { Planner } from '../usecases/planner.ts'
import { Plans } from '../usecases/plans.ts'
import { adoptableSites, siteOn } from './adoption.ts'
import { composeDiagnoser, composeDrift } from './diagnoser.ts'
import { composeEdges, type EdgeAccesses } from './edges.ts'
import { composeHttp } from './http.ts'
import { measuredInstances } from './measured-instances.ts'
import { composeMonitor } from './monitor.ts'
import { composeObserver, planSettings } from './observe.ts'
import { operationSources } from './operation-sources.ts'
import { composeConverge, composeRenewals, composeRuns, type RunParts, runParts } from './runs.ts'
import { ZoneClients } from './zone-clients.ts'

/** The service, and the parts that the commands on this machine act with. */
export type Assembly = Service &
  RunParts & {
    readonly edges: EdgeAccesses
    readonly runs: Runs
    readonly converge: Converge
    readonly withdrawal: WithdrawParts['withdrawal']
    readonly stepsToRepair: ResolveParts['stepsToRepair']
    readonly hooks: readonly Hook[]
    readonly webhookReport: () => Promise<readonly WebhookReport[]>
    readonly instance: string
    readonly clock: Clock
  }

interface AssembleOptions {
  /** The clock of every decision and every timer. Default: that of the machine. */
  readonly clock?: Clock | undefined
  /** The claim on the state folder, where the caller holds one already. Closing the store releases it. */
  readonly claim?: Claim
  /** Whether to upgrade the schema of an older store. Only the service does. */
  readonly upgrade?: boolean
}

/**
 * Builds all parts of the service from the configuration and connects them. Nothing listens or runs yet: `serve` starts
 * the parts. Rejects when the state folder or the store cannot be used, and then holds neither.
 */
export async function assemble(config: Config, log: Log, options: AssembleOptions = {}): Promise<Assembly> {
  const { clock = systemClock, upgrade = true } = options
  claimStateFolder(config.stateDir)
  const claim = options.claim ?? claimInstance(config.stateDir)
  const store = await openClaimed(config, { upgrade, clock }, claim)
  const secrets = await openSecrets(config, store, clock).catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  const shared = sharedParts(config, { store, secrets, instance: claim.name, log, clock })
  const { settings, trail, admission, board, edges, clients, instance, crashPoint, leaseMs, now } = shared
  const lastKnown = config.store.kind === 'postgres' ? new LastKnown(store, clock) : undefined
  const reads: StoreReads = lastKnown ?? { ...store, unconfirmedMs: () => undefined }

  // The runs, the exposer, the diagnoser and the monitor call each other: these two functions are called only later.
  const publish: Publish = (host, commit) =>
    monitor.publish(host, async () => {
      const committed = await commit()
      diagnoser.forget(host)
      return committed
    })
  const recheck = (plan: Plan) => planner.recheck(plan)

  const parts = runParts({ ...shared, config })
  const runs = composeRuns({ ...parts, recheck }, { store, trail, log, instance, leaseMs, crashPoint, publish, clock })
  const renewals = composeRenewals(config, parts, { store, runs, instance, log })
  const converge = composeConverge(parts, { store, runs, instance, log })
  const reach = new Reach({ ...parts, primaryServer: config.servers.primary, instance, store, clock })
  const duty = config.store.kind === 'postgres' ? sharedDuty(store, instance, leaseMs, clock) : aloneOnDuty
  const plans = new Plans({ store, reads, now })
  const planner: Planner = new Planner({
    settings,
    get planTtlSeconds() {
      return config.plan.ttlSeconds
    },
    observe: composeObserver(config, {
      ...shared,
      site: (host) => siteOn(edges, config.servers.primary, host),
    }),
    adoptable: () => adoptableSites(config, edges),
    plans,
    store,
    trail,
    now,
  })
  const stepsToRepair = (plan: Plan) => stepsOfRepair(parts, plan)
  const exposer = new Exposer({
    settings,
    plans,
    store,
    trail,
    admission,
    runs,
    publish,
    renewals,
    stepsToRepair,
    reportCertificate: (host, validity) => monitor.reportCertificate(host, validity),
    assertAdopting: () => planner.assertAdopting(),
    assertEquipped: (zone) => assertEquipped(parts, zone),
    place: () => reach.place(),
    instance,
    clock,
  })
  const hooks = derived(() => config.webhooks, hooksOf)
  const webhookReport = () => reportWebhooks(hooks(), store)
  const { standings } = parts
  const changed = [parts.primary, parts.secondary].filter((edge) => edge !== undefined)
  const debugLogs = new DebugLogWatch(changed, log)
  const unread = new UnreadWatch(edges, log)
  const preparation = new EdgePreparation({ edges: changed, primary: config.servers.primary, log, now })
  const operation = operationSources(config, { ...shared, standings, reach, preparation })
  const metrics = composeMetrics({
    ...{ ...shared, runs, standings, webhookReport, operation },
    instances: measuredInstances(config, { store, reads, clock }),
    waitingChecks: () => monitor.waiting,
  })
  const { secondary, inventory } = parts
  const onSecondary: DriftParts['onSecondary'] = async (host) =>
    secondary && seenOn(secondary.server, secondary, host).catch(() => undefined)
  const drift = composeDrift(config, { store, edges, clients, inventory, onSecondary })
  const diagnoser = composeDiagnoser(config, settings, { reads, edges, clients, board, drift, log, clock })
  const monitor = composeMonitor(config, {
    ...parts,
    store,
    runs,
    board,
    metrics,
    edges,
    clients,
    reach,
    instance,
    log,
  })
  const http = {
    ...shared,
    reads,
    standings,
    plans,
    planner,
    exposer,
    runs,
    webhookReport,
    diagnoser,
    metrics,
    monitor,
    debugLogs,
    preparation,
    drift,
  }
  return {
    ...parts,
    edges,
    store,
    runs,
    converge,
    stepsToRepair,
    withdrawal: {
      refusal: () => reach.refusal(),
      begin: async (planId, action) => (await exposer.withdraw(planId, action)).result,
    },
    instance,
    log,
    clock,
    app: await composeHttp(config, http),
    trail,
    admission,
    housekeeping: housekeeping({
      ...{ ...parts, store, runs, renewals, converge, exposer, debugLogs, unread, preparation },
      ...{ reach, duty, instance, log, clock },
      get retention() {
        return config.retention
      },
    }),
    monitor,
    presence: config.store.kind === 'postgres' ? composePresence(config, { ...shared, claim, reach }) : undefined,
    lastKnown,
    hooks: hooks(),
    webhookReport,
    webhookSender: new WebhookSender(hooks, { ...shared, chance: Math.random, send: sender(clock) }),
  }
}

function composePresence(
  { listen, stateDir, servers }: Config,
  { store, secrets, claim, reach, leaseMs, log, clock }: Surroundings & { claim: Claim; reach: Reach; leaseMs: number },
): Presence {
  const address = ownAddress(listen.address, Object.values(servers.addresses))
  return new Presence({
    ...{ store, claim, stateDir, log, clock },
    address: `${listen.tls ? 'https' : 'http'}://${formatEndpoint({ ...listen, address })}`,
    version: VERSION,
    edges: () => reach.servers(),
    keys: () => secrets.keyIds(),
    lifeMs: leaseMs,
  })
}

/** Opens the store and ties the claim to it: closing the store, or failing to open it, releases the claim. */
async function openClaimed(config: Config, options: OpenOptions, claim: Claim): Promise<Store> {
  const store = await open(config, options).catch((error: unknown) => {
    claim.release()
    throw error
  })
  return { ...store, close: () => store.close().finally(() => claim.release()) }
}

export const open = (config: Config, options: OpenOptions): Promise<Store> => openStore(settingOf(config), options)

export const settingOf = ({ store }: Config): StoreSetting =>
  store.kind === 'sqlite' ? store : { kind: 'postgres', url: store.url.reveal() }

type Secrets = OrderSecrets & SecretShelf & Pick<Vault, 'keyIds'> & Pick<SharedPairs, 'update'>

/** The sealed secrets alone, for commands. The store stays open until `close`. */
export async function openShelf(config: Config): Promise<SecretShelf & { readonly close: () => Promise<void> }> {
  const store = await open(config, { upgrade: false })
  try {
    const vault = await Vault.open({ store, file: config.storeKeyFile, now: systemClock.now })
    return {
      read: (name) => vault.read(name),
      change: (name, next) => vault.change(name, next),
      putOnce: (name, text) => vault.putOnce(name, text),
      close: () => store.close(),
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Issued pairs that are only in the state folder are put into the store, and those of other instances into the folder. */
async function openSecrets({ storeKeyFile, stateDir }: Config, store: Store, { now }: Clock): Promise<Secrets> {
  const vault = await Vault.open({ store, file: storeKeyFile, now })
  const pairs = new SharedPairs({ stateDir, store, vault, now })
  await pairs.update()
  return {
    read: (name) => vault.read(name),
    put: (name, text) => vault.put(name, text),
    change: (name, next) => vault.change(name, next),
    putOnce: (name, text) => vault.putOnce(name, text),
    drop: (name) => vault.drop(name),
    keyIds: () => vault.keyIds(),
    publish: (firstName, pair) => pairs.publish(firstName, pair),
    update: () => pairs.update(),
  }
}

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
function sharedParts(config: Config, surroundings: Surroundings) {
  const { store, clock } = surroundings
  const { now } = clock
  const { secrets: shelf, instance, log } = surroundings
  const edges = composeEdges(config, new EdgeTrust({ shelf, instance, now }), log, clock)
  const primary = edges.get(config.servers.primary)
  const inventory = certificateInventory(config.certificates, {
    issued: issuedFolder(config.stateDir),
    issuedVersion: () => store.certificatesVersion(),
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
    inventory: config.store.kind === 'postgres' ? upToDate(inventory, surroundings.secrets) : inventory,
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

interface MetricParts extends Pick<Surroundings, 'store' | 'clock'> {
  readonly board: Board
  readonly runs: Runs
  readonly standings: EdgeStandings
  readonly webhookReport: () => Promise<readonly WebhookReport[]>
  readonly instances: MetricSources['instances']
  readonly operation: OperationSources
  readonly waitingChecks: () => number
}

function composeMetrics(parts: MetricParts): Metrics {
  const { store, clock, board, runs, standings, webhookReport, instances, operation, waitingChecks } = parts
  const metrics = new Metrics({
    hosts: () => board.all(),
    queues: {
      checks: waitingChecks,
      runs: () => runs.underWay,
      deliveries: async () => (await webhookReport()).reduce((sum, { pending }) => sum + pending, 0),
      dead_letters: async () => (await webhookReport()).reduce((sum, { dead }) => sum + dead, 0),
    },
    edges: () =>
      standings.all.map(({ server, behind, orphans, doubtful, unknown, outOfStep }) => ({
        server,
        counts: { behind: behind.length, orphans: orphans.length + doubtful.length, unknown: unknown.length },
        outOfStep,
      })),
    instances,
    findRun: (runId) => store.findRun(runId),
    operation,
    clock,
  })
  // A lost count must not fail the run.
  runs.listen((entry) => void metrics.journal(entry).catch(() => undefined))
  return metrics
}

const hooksOf = (webhooks: Config['webhooks']): Hook[] =>
  webhooks.map(({ name, url, secret, events, hosts, tries, timeoutSeconds }) => ({
    name,
    url: url.reveal(),
    key: keyOf(secret.reveal()),
    types: events && new Set(events),
    hosts: hosts && new Set(hosts),
    tries,
    timeoutMs: timeoutSeconds * 1000,
  }))

/** Every secret of the configuration. The log replaces them in all of its lines. */
export function secretsOf({ adminTokenValue, store, zones, acme, webhooks }: Config): Secret[] {
  const keys = [...zones.values()].flatMap(({ tsig, nextTsig }) => [tsig?.secret, nextTsig?.secret])
  const receivers = webhooks.flatMap(({ url, secret }) => [url, secret])
  const secrets = [adminTokenValue, acme.externalAccount?.hmacKey, acme.accountKey, ...keys, ...receivers].filter(
    (secret) => secret !== undefined,
  )
  if (store.kind === 'sqlite') return secrets
  const { password } = new URL(store.url.reveal())
  return [...secrets, store.url, new Secret(password), new Secret(decodeURIComponent(password))]
}

/** Reads hand-written sites of the Primary. Undefined where the configuration does not let them be adopted. */
