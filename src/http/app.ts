import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AjvCompiler } from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
  type RawServerDefault,
} from 'fastify'
import { parseCidr } from '../model/address.ts'
import { parseLabel, parseName } from '../model/dns-name.ts'
import { Problem } from '../model/errors.ts'
import { isNote, isOwner } from '../model/exposure.ts'
import { UNREADABLE } from './guard/path.ts'
import { PROBLEM_TYPE, problemBody } from './guard/problem.ts'

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** The certificate and key of the listener, in PEM. */
export interface ListenerTls {
  readonly cert: Buffer
  readonly key: Buffer
}

const LARGEST_BODY = 16 * 1024

/** The formats of names and texts in the schemas of requests and answers. */
const FORMATS = {
  'dns-zone': (text: string) => parseName(text) !== undefined,
  'dns-label': (text: string) => parseLabel(text) !== undefined,
  owner: isOwner,
  note: isNote,
  network: (text: string) => parseCidr(text) !== undefined,
}

type CompilersFactory = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>
type Validator = ((data: unknown) => unknown) & { errors?: unknown }
type Compile<T> = (route: object) => T
type Compilers<T> = (schemas: unknown, options: unknown) => Compile<T>

/** Compiles each schema when it is used first. Compiling all of them took half a second of every start. */
const LAZY_COMPILERS = {
  buildValidator: lazily(AjvCompiler() as unknown as Compilers<Validator>, (get) => {
    const validate: Validator = (data) => {
      const isValid = get()(data)
      validate.errors = get().errors
      return isValid
    }
    return validate
  }),
  buildSerializer: lazily(
    SerializerSelector() as unknown as Compilers<(data: unknown) => string>,
    (get) => (data) => get()(data),
  ),
}

function lazily<T>(compilers: Compilers<T>, wrap: (get: () => T) => T): Compilers<T> {
  return (schemas, options) => {
    const compile = compilers(schemas, options)
    return (route) => {
      let compiled: T | undefined
      return wrap(() => {
        compiled ??= compile(route)
        return compiled
      })
    }
  }
}

/** Creates a Fastify instance with the limits, formats and error answers of this service. */
export function createApp(log: FastifyBaseLogger, tls: ListenerTls | undefined): App {
  const limits = {
    headersTimeout: 10_000,
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: 16 * 1024,
    // Node's own answer to a missing Host header would not be a problem+json body. HostCheck refuses it instead.
    requireHostHeader: false,
  }
  const options = {
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: newRequestId,
    bodyLimit: LARGEST_BODY,
    // A longer parameter would be answered before any hook: by no rule of this service.
    routerOptions: { maxParamLength: limits.maxHeaderSize },
    requestTimeout: 15_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle' as const,
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: refuseUnroutable,
    serializerOpts: { ajv: { formats: FORMATS } },
    schemaController: { compilersFactory: LAZY_COMPILERS as CompilersFactory },
    ajv: {
      customOptions: {
        allErrors: true,
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        formats: FORMATS,
      },
    },
  } as const
  const app = tls ? Fastify({ ...options, https: { ...limits, ...tls } }) : Fastify({ ...options, http: limits })
  // Node would answer an unknown Expect header with 417. HTTP permits to ignore the header.
  app.server.on('checkExpectation', app.routing)
  return app.withTypeProvider<TypeBoxTypeProvider>() as unknown as App
}

const newRequestId = (): string => `req_${randomBytes(10).toString('hex')}`

/** The headers for answers that are sent before any hook runs. */
const UNHOOKED = {
  'content-type': PROBLEM_TYPE,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** Answers a request whose path cannot be decoded. No hook runs for it, so the answer and the log line are written here. */
function refuseUnroutable(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const problem = new Problem('not_found', 'This path does not exist.')
  request.log.info(
    { event: 'request', method: request.method, path: UNREADABLE, status: 404, code: problem.code },
    'Request answered.',
  )
  reply
    .status(404)
    .headers({ ...UNHOOKED, 'x-request-id': request.id })
    .send(JSON.stringify(problemBody(problem, request.id)))
}

/** Answers input that is not valid HTTP, such as request smuggling or endless headers, and closes the connection. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = new Problem('invalid_request', 'The request is not valid HTTP.')
  const body = JSON.stringify(problemBody(problem, newRequestId()))
  const headers = { ...UNHOOKED, 'content-length': Buffer.byteLength(body), connection: 'close' }
  const head = ['HTTP/1.1 400 Bad Request', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
