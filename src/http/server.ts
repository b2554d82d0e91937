import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import helmet from '@fastify/helmet'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import underPressure from '@fastify/under-pressure'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type RawServerDefault } from 'fastify'
import type { AuditTrail } from '../audit/trail.ts'
import type { Admission } from '../authorize/admission.ts'
import type { Caller, CallerRules } from '../authorize/caller.ts'
import type { RateLimits } from '../config/rate-limits.ts'
import type { Exposer } from '../exposer.ts'
import { parseLabel, parseName } from '../model/dns-name.ts'
import { Problem } from '../model/errors.ts'
import { Gate } from './gate.ts'
import { judgeRequests, pathOf } from './judgement.ts'
import { PROBLEM_TYPE, problemBody } from './problem.ts'
import { createBudgets } from './rate-limit.ts'
import { answerRefusals } from './refusals.ts'
import { planRoutes } from './routes/plans.ts'
import { policyRoutes } from './routes/policy.ts'
import { describeApi, referenceRoutes } from './routes/reference.ts'
import { systemRoutes } from './routes/system.ts'
import { tokenRoutes } from './routes/token.ts'
import type { PolicyBody } from './schemas.ts'
import { parseStrictJson } from './strict-json.ts'

export type App = FastifyInstance<
  RawServerDefault,
  import('node:http').IncomingMessage,
  import('node:http').ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export interface ServerParts {
  readonly version: string
  readonly exposer: Exposer
  readonly policy: (caller: Caller) => PolicyBody
  readonly callers: CallerRules
  readonly admission: Admission
  readonly trail: AuditTrail
  readonly publicUrls: readonly string[]
  readonly rateLimits: RateLimits
  readonly isReady: () => Promise<boolean>
  readonly now: () => number
  readonly log: FastifyBaseLogger
  /** PEM texts; without them the listener speaks plain HTTP. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined
}

const LARGEST_BODY = 16 * 1024

/** The whole HTTP face, not yet listening. */
export async function createServer(parts: ServerParts): Promise<App> {
  const app = bareServer(parts)
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  const spend = await createBudgets(app, parts.rateLimits)
  const gate = new Gate(parts.publicUrls, parts.tls ? 'https' : 'http')
  judgeRequests(app, { ...parts, gate, spend, isClosing: () => closing })
  answerRefusals(app, parts.trail, spend, parts.now)
  logRequests(app)
  acceptOnlyJson(app)
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: CSP },
    strictTransportSecurity: parts.tls !== undefined,
  })
  await app.register(underPressure, {
    maxEventLoopDelay: 2000,
    pressureHandler: () => {
      throw new Problem('unavailable', 'The service is overloaded.', { retryAfter: 5 })
    },
  })
  await describeApi(app, parts.version)
  refuseOtherMethods(app, () => {
    policyRoutes(app, parts.policy)
    planRoutes(app, parts.exposer)
    tokenRoutes(app, parts.exposer)
    systemRoutes(app, async () => !closing && (await parts.isReady()))
    referenceRoutes(app)
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

function bareServer({ log, tls }: ServerParts): App {
  const limits = { headersTimeout: 10_000, connectionsCheckingInterval: 2_000, maxHeaderSize: 16 * 1024 }
  const options = {
    loggerInstance: log,
    disableRequestLogging: true,
    requestIdLogLabel: 'requestId',
    genReqId: () => `req_${randomBytes(10).toString('hex')}`,
    bodyLimit: LARGEST_BODY,
    requestTimeout: 15_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle' as const,
    clientErrorHandler: refuseUnreadable,
    ajv: {
      customOptions: {
        allErrors: true,
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        formats: {
          'dns-zone': (text: string) => parseName(text) !== undefined,
          'dns-label': (text: string) => parseLabel(text) !== undefined,
        },
      },
    },
  } as const
  const app = tls ? Fastify({ ...options, https: { ...limits, ...tls } }) : Fastify({ ...options, http: limits })
  return app.withTypeProvider<TypeBoxTypeProvider>() as unknown as App
}

/** What is not even HTTP: smuggling attempts, headers without end. Answered in our shape and closed. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = new Problem('invalid_request', 'The request is not HTTP as this service reads it.')
  const body = JSON.stringify(problemBody(problem, `req_${randomBytes(10).toString('hex')}`))
  const head = `HTTP/1.1 400 Bad Request\r\ncontent-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`
  socket.end(head + body)
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
    throw new Problem('invalid_request', 'The body must be sent as application/json.', {
      status: 415,
      errors: [{ field: 'content-type', message: 'must be application/json, with charset=utf-8 at most' }],
    })
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
        path: pathOf(request),
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
