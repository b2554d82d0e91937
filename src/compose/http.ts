import { join, sep } from 'node:path'
import type { AuditTrail } from '../audit/trail.ts'
import type { Admission } from '../authorize/admission.ts'
import { CallerRules } from '../authorize/caller.ts'
import type { Config } from '../config/config.ts'
import { isPublic } from '../config/status.ts'
import type { App } from '../http/app.ts'
import { readTlsFiles } from '../http/certificate-reload.ts'
import type { DriftReader } from '../http/routes/plans.ts'
import { createServer } from '../http/server.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Minutes } from '../model/history.ts'
import type { Board } from '../monitor/board.ts'
import type { DebugLogWatch } from '../monitor/edge-watch/debug-log-watch.ts'
import type { Monitor } from '../monitor/monitor.ts'
import { EventFeed } from '../notify/event-feed.ts'
import type { WebhookReport } from '../notify/webhook-report.ts'
import type { PlanSettings } from '../plan/settings.ts'
import type { Clock } from '../primitives/clock.ts'
import { derived } from '../primitives/derived.ts'
import type { EdgePreparation } from '../runs/edge-preparation.ts'
import type { EdgeStandings } from '../runs/edge-standings.ts'
import type { Runs } from '../runs/engine/runs.ts'
import { fullDisks } from '../runtime/disk.ts'
import type { Log } from '../runtime/log.ts'
import { VERSION } from '../runtime/version.ts'
import type { Store, StoreReads } from '../store/ports/store.ts'
import type { Diagnoser } from '../usecases/diagnoser.ts'
import type { Exposer } from '../usecases/exposer.ts'
import { Muting } from '../usecases/muting.ts'
import type { Planner } from '../usecases/planner.ts'
import type { Plans } from '../usecases/plans.ts'
import { describePolicy } from '../usecases/policy.ts'
import { PlanProgress } from '../usecases/progress.ts'

interface HttpParts {
  readonly store: Store
  readonly reads: StoreReads
  readonly settings: PlanSettings
  readonly admission: Admission
  readonly trail: AuditTrail
  readonly plans: Plans
  readonly planner: Planner
  readonly exposer: Exposer
  readonly runs: Runs
  readonly board: Board
  readonly standings: EdgeStandings
  readonly monitor: Monitor
  readonly minutes: Minutes
  readonly diagnoser: Diagnoser
  readonly drift: DriftReader
  readonly metrics: Metrics
  readonly debugLogs: DebugLogWatch
  readonly preparation: EdgePreparation
  readonly webhookReport: () => Promise<readonly WebhookReport[]>
  readonly log: Log
  readonly clock: Clock
}

/** The HTTP server on its use cases. It does not listen yet. */
export function composeHttp(config: Config, parts: HttpParts): Promise<App> {
  const {
    store,
    reads,
    settings,
    admission,
    trail,
    plans,
    planner,
    exposer,
    runs,
    board,
    monitor,
    diagnoser,
    metrics,
    log,
    clock,
  } = parts
  const rules = derived(
    () => [config.internalNetworks, config.trustedProxies].join(' | '),
    () => new CallerRules(config.internalNetworks, config.trustedProxies),
  )
  // Anybody may ask whether the service is ready, so no sentence of it tells a path.
  const folderNames = new Map([
    ...Object.entries(config.edges).map(([server, { folder }]) => [folder, `the folder of edge ${server}`] as const),
    [config.stateDir, 'the state folder'],
  ])
  return createServer({
    version: VERSION,
    plans,
    planner,
    exposer,
    progress: new PlanProgress(reads, runs, clock, store),
    events: new EventFeed(reads, clock, store),
    audit: reads,
    webhooks: parts.webhookReport,
    board,
    history: store,
    minutes: parts.minutes,
    standings: parts.standings,
    upToDate: (host) => monitor.upToDate(host),
    hostsUnconfirmedMs: () => monitor.unconfirmedMs,
    unconfirmedMs: () => reads.unconfirmedMs(),
    showsUnmanaged: (host) => isPublic(config.status, host),
    muting: new Muting({ ...parts, now: clock.now, publish: (host, commit) => monitor.publishMute(host, commit) }),
    diagnoser,
    drift: parts.drift,
    metrics,
    policy: (caller) =>
      describePolicy(config, { ports: settings.ports, version: VERSION, edgeFault: parts.preparation.refusal }, caller),
    pageFolder: PAGE_FOLDER,
    callers: { identify: (peer, headers) => rules().identify(peer, headers) },
    admission,
    trail,
    publicUrls: () => config.publicUrls,
    rateLimits: () => config.rateLimits,
    requestCounts: config.store.kind === 'postgres' ? store : undefined,
    isReady: () =>
      store.ping().then(
        () => true,
        () => false,
      ),
    warnings: async () => [
      ...(await fullDisks([...folderNames.keys()], (folder) => folderNames.get(folder) ?? '')),
      ...parts.debugLogs.warnings,
      ...parts.preparation.warnings,
      // An edge that is not prepared is told already.
      ...parts.standings.warnings.flatMap(({ server, sentence }) =>
        server === config.servers.primary && parts.preparation.warnings.length > 0 ? [] : [sentence],
      ),
    ],
    clock,
    log,
    tls: config.listen.tls && readTlsFiles(config.listen.tls),
  })
}

/**
 * The folder of the built page. This file runs from src/compose/, from dist/src/compose/ and, bundled, from
 * dist/service/.
 */
const ANCESTORS = import.meta.dirname.split(sep)
const PAGE_FOLDER = ANCESTORS.includes('dist')
  ? join(ANCESTORS.slice(0, ANCESTORS.lastIndexOf('dist') + 1).join(sep), 'web')
  : join(import.meta.dirname, '..', '..', 'dist', 'web')
