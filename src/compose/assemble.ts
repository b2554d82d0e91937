import type { Config } from '../config/config.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { formatEndpoint } from '../model/address.ts'
import type { Plan } from '../model/exposure.ts'
import { Minutes } from '../model/history.ts'
import { DebugLogWatch } from '../monitor/edge-watch/debug-log-watch.ts'
import { UnreadWatch } from '../monitor/edge-watch/unread-watch.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { WebhookReport } from '../notify/webhook-report.ts'
import type { Hook } from '../notify/webhook-request.ts'
import { Presence } from '../operate/presence.ts'
import type { Service } from '../operate/serve.ts'
import type { VerifyParts } from '../operate/verify/evidence.ts'
import type { WithdrawParts } from '../operate/withdraw.ts'
import { type Clock, systemClock } from '../primitives/clock.ts'
import type { Converge } from '../runs/converge.ts'
import { EdgeAvailability } from '../runs/edge-availability.ts'
import { EdgePreparation } from '../runs/edge-preparation.ts'
import { aloneOnDuty, sharedDuty } from '../runs/engine/duty.ts'
import type { ResolveParts } from '../runs/engine/resolve.ts'
import type { Publish, Runs } from '../runs/engine/runs.ts'
import { housekeeping } from '../runs/housekeeping.ts'
import { assertEquipped } from '../runs/steps/context.ts'
import { stepsOfRepair } from '../runs/steps/subject.ts'
import { type Claim, claimInstance, claimStateFolder } from '../runtime/instance.ts'
import type { Log } from '../runtime/log.ts'
import { ownAddress } from '../runtime/own-address.ts'
import { VERSION } from '../runtime/version.ts'
import { LastKnown } from '../store/last-known.ts'
import type { StoreReads } from '../store/ports/store.ts'
import type { Diagnoser } from '../usecases/diagnoser.ts'
import { seenOn } from '../usecases/drift.ts'
import { Exposer } from '../usecases/exposer.ts'
import { Planner } from '../usecases/planner.ts'
import { Plans } from '../usecases/plans.ts'
import { adoptableSites, siteOn } from './adoption.ts'
import { composeDiagnoser, composeDrift } from './diagnoser.ts'
import type { EdgeAccesses } from './edges.ts'
import { composeHttp } from './http.ts'
import { composeMetrics } from './metrics.ts'
import { composeMonitor } from './monitor.ts'
import { composeObserver } from './observe.ts'
import { openClaimed, openSecrets } from './open-store.ts'
import { composeConverge, composeRenewals, composeRuns, type RunParts, runParts } from './runs.ts'
import { type Shared, sharedParts } from './shared.ts'
import { composeWebhooks } from './webhooks.ts'

export type Assembly = Service &
  RunParts & {
    readonly edges: EdgeAccesses
    readonly runs: Runs
    readonly converge: Converge
    readonly verification: VerifyParts['verification']
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
 * Builds all parts of the service from the configuration, each after those that it uses. Nothing listens or runs yet: `serve` starts
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
  const { instance, edges } = shared
  const planning = composePlanning(config, shared)
  const parts = runParts({ ...shared, config, recheck: (plan) => planning.planner.recheck(plan) })
  const webhooks = composeWebhooks(config, shared)
  const watching = composeWatching(config, { ...shared, ...planning, ...webhooks, parts })
  const acting = composeActing(config, { ...shared, ...planning, ...watching, parts })
  const { availability } = watching
  const { runs, converge, exposer, stepsToRepair } = acting
  return {
    ...parts,
    edges,
    store: {
      ...store,
      // The next owner waits for the folders as well as for the store.
      close: async () => {
        await Promise.all([...edges.values()].map(({ release }) => release()))
        await store.close()
      },
    },
    runs,
    converge,
    stepsToRepair,
    verification: {
      drift: watching.drift,
      holds: (zone, records) => parts.readBack(zone, records, AbortSignal.any([])),
      stateDir: config.stateDir,
    },
    withdrawal: {
      refusal: () => availability.refusal(),
      begin: async (planId, action) => (await exposer.withdraw(planId, action)).result,
    },
    instance,
    log,
    clock,
    app: await composeHttp(config, {
      ...{ ...shared, ...planning, ...webhooks, ...watching, ...acting },
      standings: parts.standings,
    }),
    trail: shared.trail,
    admission: shared.admission,
    housekeeping: housekeeping({
      ...{ ...parts, ...watching, ...acting, store, instance, log, clock },
      unread: new UnreadWatch(edges, log),
      duty: shared.isShared ? sharedDuty(store, instance, shared.leaseMs, clock) : aloneOnDuty,
      get retention() {
        return config.retention
      },
    }),
    monitor: watching.monitor,
    presence: shared.isShared ? composePresence(config, { ...shared, claim, availability }) : undefined,
    lastKnown: planning.lastKnown,
    hooks: webhooks.hooks(),
    webhookReport: webhooks.webhookReport,
    webhookSender: webhooks.webhookSender,
  }
}

/** What plans, and reads the store for it. */
function composePlanning(config: Config, shared: Shared) {
  const { store, trail, settings, edges, clock, now } = shared
  const lastKnown = shared.isShared ? new LastKnown(store, clock) : undefined
  const reads: StoreReads = lastKnown ?? { ...store, unconfirmedMs: () => undefined }
  const plans = new Plans({ store, reads, now })
  const planner = new Planner({
    settings,
    get planTtlSeconds() {
      return config.plan.ttlSeconds
    },
    observe: composeObserver(config, { ...shared, site: (host) => siteOn(edges, config.servers.primary, host) }),
    adoptable: () => adoptableSites(config, edges),
    plans,
    store,
    trail,
    now,
  })
  return { lastKnown, reads, plans, planner }
}

interface Watched extends Shared {
  readonly reads: StoreReads
  readonly parts: RunParts
  readonly webhookReport: () => Promise<readonly WebhookReport[]>
}

/** What watches edges and hosts, and changes none of them. */
function composeWatching(config: Config, watched: Watched) {
  const { parts, instance, store, log, clock } = watched
  const { primary, secondary, standings } = parts
  const both = [primary, secondary].filter((edge) => edge !== undefined)
  const availability = new EdgeAvailability({
    ...{ primary, secondary, instance, store, clock },
    own: (server) => watched.edges.get(server)?.own(),
    primaryServer: config.servers.primary,
  })
  const preparation = new EdgePreparation({ edges: both, primary: config.servers.primary, log, clock })
  const drift = composeDrift(config, {
    ...watched,
    onSecondary: async (host) => secondary && seenOn(secondary.server, secondary, host).catch(() => undefined),
  })
  const metrics = composeMetrics(config, { ...watched, standings, availability, preparation })
  const minutes = new Minutes()
  const monitor = composeMonitor(config, { ...watched, ...parts, metrics, minutes, availability, store })
  metrics.addQueue('checks', () => monitor.waiting)
  return {
    availability,
    preparation,
    debugLogs: new DebugLogWatch(both, log),
    drift,
    diagnoser: composeDiagnoser(config, watched.settings, { ...watched, drift }),
    metrics,
    minutes,
    monitor,
  }
}

interface Acted extends Shared {
  readonly parts: RunParts
  readonly plans: Plans
  readonly planner: Planner
  readonly availability: EdgeAvailability
  readonly diagnoser: Diagnoser
  readonly metrics: Metrics
  readonly monitor: Monitor
}

/** What begins and executes runs. */
function composeActing(config: Config, acted: Acted) {
  const { parts, store, log, planner, availability, diagnoser, metrics, monitor } = acted
  const publish: Publish = (host, commit) =>
    monitor.publish(host, async () => {
      const committed = await commit()
      diagnoser.forget(host)
      return committed
    })
  const runs = composeRuns(parts, { ...acted, publish })
  runs.listen(({ runId }) => monitor.touchRun(runId))
  // A lost count must not fail the run.
  runs.listen((entry) => void metrics.journal(entry).catch(() => undefined))
  metrics.addQueue('runs', () => runs.underWay)
  const shared = { store, runs, log }
  const renewals = composeRenewals(config, parts, shared)
  const stepsToRepair = (plan: Plan) => stepsOfRepair(parts, plan)
  const exposer = new Exposer({
    ...{ ...acted, runs, publish, renewals, stepsToRepair },
    reportCertificate: (host, validity) => monitor.reportCertificate(host, validity),
    assertAdopting: () => planner.assertAdopting(),
    assertEquipped: (zone) => assertEquipped(parts, zone),
    place: () => availability.place(),
  })
  return { runs, renewals, converge: composeConverge(parts, shared), stepsToRepair, exposer }
}

interface Present extends Pick<Shared, 'store' | 'secrets' | 'leaseMs' | 'log' | 'clock'> {
  readonly claim: Claim
  readonly availability: EdgeAvailability
}

function composePresence({ listen, stateDir, servers }: Config, present: Present): Presence {
  const { store, secrets, claim, availability, leaseMs, log, clock } = present
  const address = ownAddress(listen.address, Object.values(servers.addresses))
  return new Presence({
    ...{ store, claim, stateDir, log, clock },
    address: `${listen.tls ? 'https' : 'http'}://${formatEndpoint({ ...listen, address })}`,
    version: VERSION,
    edges: () => availability.servers(),
    keys: () => secrets.keyIds(),
    lifeMs: leaseMs,
  })
}
