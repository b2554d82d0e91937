import helmet from '@fastify/helmet'
import type { FastifyBaseLogger } from 'fastify'
import type { AuditTrail } from '../audit/trail.ts'
import type { Admission } from '../authorize/admission.ts'
import type { Caller, CallerRules } from '../authorize/caller.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { Problem } from '../model/errors.ts'
import type { Minutes } from '../model/history.ts'
import type { EdgeStanding } from '../model/host-status.ts'
import type { Board } from '../monitor/board.ts'
import type { EventFeed } from '../notify/event-feed.ts'
import type { WebhookReport } from '../notify/webhook-report.ts'
import type { Clock } from '../primitives/clock.ts'
import type { RequestCountStore } from '../store/ports/request-counts.ts'
import type { Diagnoser } from '../usecases/diagnoser.ts'
import type { Exposer } from '../usecases/exposer.ts'
import type { Muting } from '../usecases/muting.ts'
import type { Planner } from '../usecases/planner.ts'
import type { Plans } from '../usecases/plans.ts'
import type { PlanProgress } from '../usecases/progress.ts'
import { type App, createApp, type ListenerTls } from './app.ts'
import { handleErrors } from './guard/error-handler.ts'
import { HostCheck } from './guard/host-check.ts'
import { refuseOverload } from './guard/overload.ts'
import { loggedPath } from './guard/path.ts'
import { wrongType } from './guard/problem.ts'
import { createBudgets, type RateLimits } from './guard/rate-limit.ts'
import { guardRequests } from './guard/request-guard.ts'
import { parseStrictJson } from './guard/strict-json.ts'
import type { Unconfirmed } from './routes/age.ts'
import { type AuditReader, auditRoutes } from './routes/audit.ts'
import { diagnoseRoutes } from './routes/diagnose.ts'
import { eventRoutes, planEventRoutes, recentEventRoutes, webhookRoutes } from './routes/events.ts'
import type { Visibility } from './routes/host-body.ts'
import { hostChangeRoutes } from './routes/host-changes.ts'
import { hostEventRoutes } from './routes/host-events.ts'
import { type HistoryReader, hostHistoryRoutes } from './routes/host-history.ts'
import { hostRoutes, muteRoutes } from './routes/hosts.ts'
import { pageRoutes, problemPage, registerPage } from './routes/page.ts'
import { type DriftReader, planRoutes } from './routes/plans.ts'
import { referenceRoutes, registerApiDocument } from './routes/reference.ts'
import { repairRoutes } from './routes/repair.ts'
import { runRoutes } from './routes/runs.ts'
import { metricsRoutes, policyRoutes, systemRoutes } from './routes/system.ts'
import { tokenRoutes } from './routes/token.ts'
import type { PolicyBody } from './schemas/policy-schemas.ts'
import { eventStreams } from './streams/event-stream.ts'

export interface ServerParts {
  readonly version: string
  readonly plans: Plans
  readonly planner: Planner
  readonly exposer: Exposer
  readonly progress: PlanProgress
  readonly events: EventFeed
  readonly audit: AuditReader
  readonly webhooks: () => Promise<readonly WebhookReport[]>
  /** The hosts as the monitor knows them. */
  readonly board: Board
  readonly history: HistoryReader
  /** The last hour of each host by minutes. */
  readonly minutes: Pick<Minutes, 'of'>
  /** How far the edges of this instance are from the store. */
  readonly standings: { readonly all: readonly EdgeStanding[]; readonly revision: number }
  /** Resolves when the board shows all earlier commits of `host`, or of all hosts. */
  readonly upToDate: (host?: string) => Promise<void>
  /** For how long the store did not confirm what the board shows. */
  readonly hostsUnconfirmedMs: Unconfirmed
  /** The same for what else is read of the store. */
  readonly unconfirmedMs: Unconfirmed
  /** Whether public callers see a host that Drawbridge did not create. */
  readonly showsUnmanaged: (host: string) => boolean
  readonly muting: Muting
  readonly diagnoser: Diagnoser
  readonly drift: DriftReader
  readonly metrics: Metrics
  readonly policy: (caller: Caller) => PolicyBody
  /** The folder of the built web page. */
  readonly pageFolder: string
  readonly callers: Pick<CallerRules, 'identify'>
  readonly admission: Admission
  readonly trail: AuditTrail
  readonly publicUrls: () => readonly string[]
  readonly rateLimits: () => RateLimits
  /** Counts the requests of all instances. Undefined where there is only one. */
  readonly requestCounts: RequestCountStore | undefined
  readonly isReady: () => Promise<boolean>
  /** Problems that an administrator must fix. Public callers may read them. */
  readonly warnings: () => Promise<readonly string[]>
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  /** Undefined: the listener uses plain HTTP. */
  readonly tls?: ListenerTls | undefined
}

/** Creates the HTTP server with all its routes. It does not listen yet. */
export async function createServer(parts: ServerParts): Promise<App> {
  const app = createApp(parts.log, parts.tls)
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  await addGuards(app, parts, () => closing)
  await registerApiDocument(app, parts.version)
  await registerPage(app, parts.pageFolder)
  refuseOtherMethods(app, () => addRoutes(app, parts, () => closing))
  return app
}

async function addGuards(app: App, parts: ServerParts, isClosing: () => boolean): Promise<void> {
  // Registered before the request guard, so that its refusals also have these headers.
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: CSP },
    frameguard: { action: 'deny' },
    strictTransportSecurity: parts.tls !== undefined,
  })
  const budgets = await createBudgets(app, parts.rateLimits, parts.clock, parts.requestCounts)
  const hostCheck = new HostCheck(parts.publicUrls, parts.tls ? 'https' : 'http')
  guardRequests(app, { ...parts, hostCheck, budgets, isClosing })
  handleErrors(app, { ...parts, budgets, problemPage: problemPage(parts.pageFolder) })
  logRequests(app)
  acceptOnlyJson(app)
  refuseOverload(app, parts.clock)
}

function addRoutes(app: App, parts: ServerParts, isClosing: () => boolean): void {
  const { exposer, board, clock } = parts
  const sendEvents = eventStreams(clock)
  const visibleTo: Visibility = (network) => (one) =>
    one.managed || network === 'internal' || parts.showsUnmanaged(one.host)
  policyRoutes(app, parts.policy)
  planRoutes(app, parts)
  tokenRoutes(app, exposer)
  runRoutes(app, exposer)
  repairRoutes(app, exposer, parts.drift)
  planEventRoutes(app, parts.progress, sendEvents, parts.unconfirmedMs)
  eventRoutes(app, parts.events, sendEvents, parts.unconfirmedMs)
  recentEventRoutes(app, parts.events, parts.unconfirmedMs)
  auditRoutes(app, parts.audit, parts.unconfirmedMs)
  webhookRoutes(app, parts.webhooks)
  hostRoutes(app, parts, visibleTo)
  muteRoutes(app, parts.muting)
  hostEventRoutes(app, board, clock, sendEvents, visibleTo)
  hostHistoryRoutes(app, parts, visibleTo)
  hostChangeRoutes(app, parts, sendEvents, visibleTo)
  diagnoseRoutes(app, parts)
  metricsRoutes(app, parts.metrics)
  systemRoutes(app, async () => !isClosing() && (await parts.isReady()), parts.warnings)
  referenceRoutes(app)
  pageRoutes(app, parts.pageFolder)
}

/** The web page loads only files of this service, and no other page may frame it. */
const CSP = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'none'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
}

function acceptOnlyJson(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: string | Buffer) => parseStrictJson(Buffer.from(body)),
  )
  app.addHook('preParsing', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return
    const type = request.headers['content-type'] ?? ''
    if (/^application\/json *(; *charset="?utf-8"? *)?$/i.test(type)) return
    throw wrongType()
  })
}

/** Adds routes that answer 405 with an Allow header for the other methods of each path. */
function refuseOtherMethods(app: App, addRoutes: () => void): void {
  const methods = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method, config }) => {
    if (!config?.allow) methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()])
  })
  addRoutes()
  for (const [url, allow] of [...methods]) {
    const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter(
      (m) => !allow.includes(m),
    )
    // The request guard answers first. The handler only satisfies Fastify.
    const unreached = async () => {
      throw new Problem('method_not_allowed', 'This path does not support that method.')
    }
    app.route({ method: others, url, config: { allow }, schema: { hide: true }, handler: unreached })
  }
}

/** Logs one line per request, with the request id of the answer. It logs no query, header or body, which can hold secrets. */
function logRequests(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    const { address, network } = request.caller
    request.log.info(
      {
        event: 'request',
        method: request.method,
        path: loggedPath(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        caller: address,
        network,
        code: request.refusedWith,
      },
      'Request answered.',
    )
  })
}
