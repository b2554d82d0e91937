import helmet from '@fastify/helmet'
import underPressure from '@fastify/under-pressure'
import type { FastifyBaseLogger } from 'fastify'
import type { AuditTrail } from '../audit/trail.ts'
import type { Admission } from '../authorize/admission.ts'
import type { Caller, CallerRules } from '../authorize/caller.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { Problem } from '../model/errors.ts'
import type { Board } from '../monitor/board.ts'
import type { EventFeed } from '../notify/event-feed.ts'
import type { WebhookReport } from '../notify/webhook-report.ts'
import type { Diagnoser } from '../usecases/diagnoser.ts'
import type { Exposer } from '../usecases/exposer.ts'
import type { PlanProgress } from '../usecases/progress.ts'
import { type App, createApp, type ListenerTls } from './app.ts'
import { Gate } from './guard/gate.ts'
import { judgeRequests } from './guard/judgement.ts'
import { shownPath } from './guard/path.ts'
import { wrongType } from './guard/problem.ts'
import { createBudgets, type RateLimits } from './guard/rate-limit.ts'
import { answerRefusals } from './guard/refusals.ts'
import { parseStrictJson } from './guard/strict-json.ts'
import { type AuditReader, auditRoutes } from './routes/audit.ts'
import { diagnoseRoutes } from './routes/diagnose.ts'
import { eventRoutes, planEventRoutes, webhookRoutes } from './routes/events.ts'
import type { Visibility } from './routes/host-body.ts'
import { hostEventRoutes } from './routes/host-events.ts'
import { hostRoutes } from './routes/hosts.ts'
import { offerPage, pageRoutes } from './routes/page.ts'
import { planRoutes } from './routes/plans.ts'
import { describeApi, referenceRoutes } from './routes/reference.ts'
import { renewRoute, runRoutes } from './routes/runs.ts'
import { metricsRoutes, policyRoutes, systemRoutes } from './routes/system.ts'
import { tokenRoutes } from './routes/token.ts'
import type { PolicyBody } from './schemas/plan-schemas.ts'
import { eventStreams } from './streams/event-stream.ts'

export interface ServerParts {
  readonly version: string
  readonly exposer: Exposer
  readonly progress: PlanProgress
  readonly events: EventFeed
  readonly audit: AuditReader
  readonly webhooks: () => Promise<readonly WebhookReport[]>
  /** The hosts as the monitor knows them. */
  readonly board: Board
  /** Resolves when board and diagnosis tell what was committed before: of `host`, or of all. */
  readonly upToDate: (host?: string) => Promise<void>
  /** Whether the public may know of hosts that were not made here. */
  readonly showsUnmanaged: boolean
  readonly diagnoser: Diagnoser
  readonly metrics: Metrics
  readonly policy: (caller: Caller) => PolicyBody
  /** The folder that the web page was built into. */
  readonly pageFolder: string
  readonly callers: CallerRules
  readonly admission: Admission
  readonly trail: AuditTrail
  readonly publicUrls: readonly string[]
  readonly rateLimits: RateLimits
  readonly isReady: () => Promise<boolean>
  /** What an administrator has to put right, in words for anybody. */
  readonly warnings: () => readonly string[]
  readonly now: () => number
  readonly log: FastifyBaseLogger
  /** Without it the listener speaks plain HTTP. */
  readonly tls?: ListenerTls | undefined
}

/** The whole HTTP face, not yet listening. */
export async function createServer(parts: ServerParts): Promise<App> {
  const app = createApp(parts.log, parts.tls)
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  // Before the judgement: what it refuses carries these headers, too.
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: CSP },
    frameguard: { action: 'deny' },
    strictTransportSecurity: parts.tls !== undefined,
  })
  const budgets = await createBudgets(app, parts.rateLimits)
  const gate = new Gate(parts.publicUrls, parts.tls ? 'https' : 'http')
  judgeRequests(app, { ...parts, gate, budgets, isClosing: () => closing })
  answerRefusals(app, parts.trail, budgets, parts.now)
  logRequests(app)
  acceptOnlyJson(app)
  await app.register(underPressure, {
    maxEventLoopDelay: 2000,
    pressureHandler: () => {
      throw new Problem('unavailable', 'The service is overloaded.', { retryAfter: 5 })
    },
  })
  await describeApi(app, parts.version)
  await offerPage(app, parts.pageFolder)
  const sendEvents = eventStreams()
  const visibleTo: Visibility = (network) => (host) => host.managed || network === 'internal' || parts.showsUnmanaged
  refuseOtherMethods(app, () => {
    policyRoutes(app, parts.policy)
    planRoutes(app, parts.exposer)
    tokenRoutes(app, parts.exposer)
    runRoutes(app, parts.exposer)
    renewRoute(app, parts.exposer)
    planEventRoutes(app, parts.progress, sendEvents)
    eventRoutes(app, parts.events, sendEvents)
    auditRoutes(app, parts.audit)
    webhookRoutes(app, parts.webhooks)
    hostRoutes(app, parts, visibleTo)
    hostEventRoutes(app, parts.board, parts.now, sendEvents, visibleTo)
    diagnoseRoutes(app, parts)
    metricsRoutes(app, parts.metrics)
    systemRoutes(app, async () => !closing && (await parts.isReady()), parts.warnings)
    referenceRoutes(app)
    pageRoutes(app, parts.pageFolder)
  })
  return app
}

/** Our own pages load only what we serve, and nobody may frame them. */
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

/** Each address answers methods it does not take with 405 and the ones it does. */
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
    const unreached = async () => {
      throw new Problem('method_not_allowed', 'This method is not taken here.')
    }
    app.route({ method: others, url, config: { allow }, schema: { hide: true }, handler: unreached })
  }
}

/** One line per request, with the id that the error body repeats. No query, no header, no body: nothing that could hold a secret. */
function logRequests(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    const { address, network } = request.caller
    request.log.info(
      {
        method: request.method,
        path: shownPath(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        caller: address,
        network,
        code: request.refusedWith,
      },
      'request',
    )
  })
}
