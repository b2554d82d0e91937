import { constants } from 'node:crypto'
import { type IncomingMessage, createServer as plainServer, type Server, type ServerResponse } from 'node:http'
import { type Server as SecureServer, createServer as secureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { Compile } from 'typebox/compile'
import type { Clock } from '../../primitives/clock.ts'
import { unsafeKeyIn } from '../../primitives/json-keys.ts'
import type { PemIdentity } from '../authority/authority.ts'
import { PATH_OF, VERBS, type Verb, type WireChangeLine } from '../wire/verbs.ts'
import { type Agent, wireFault } from './agent.ts'
import { InvalidMessage } from './message.ts'

/** Connections and bytes of messages that are accepted at the same time. */
const MOST_CONNECTIONS = 256
const MOST_BYTES = 256 * 1024 * 1024
const HEADERS_MS = 10_000
const BODY_MS = 60_000
const IDLE_MS = 120_000
const MOST_HEADER_BYTES = 8 * 1024

export interface ServerParts {
  readonly agent: Agent
  /** Why the peer of a connection is refused. Undefined if it is accepted. */
  readonly refusalOf: (socket: Socket) => string | undefined
  readonly onRefused: (what: { readonly verb: string; readonly reason: string }) => void
  readonly onUnexpected: (error: unknown, verb: string) => void
  readonly clock: Clock
}

const limits = {
  headersTimeout: HEADERS_MS,
  requestTimeout: BODY_MS,
  keepAliveTimeout: IDLE_MS,
  maxHeaderSize: MOST_HEADER_BYTES,
  connectionsCheckingInterval: 5_000,
}

/** For a unix socket. It does not listen yet. */
export const agentServer = (parts: ServerParts): Server =>
  bounded(plainServer(limits, (request, response) => void answer(parts, budget(), request, response)))

/** For other machines: both sides show a certificate. */
export const secureAgentServer = (parts: ServerParts, identity: PemIdentity): SecureServer =>
  bounded(
    secureServer(
      {
        ...limits,
        ...contextOf(identity),
        ...{ requestCert: true, rejectUnauthorized: true, handshakeTimeout: HEADERS_MS },
      },
      (request, response) => void answer(parts, budget(), request, response),
    ),
  )

/** A new certificate needs all of it again: `setSecureContext` keeps nothing of the former context. */
export const contextOf = ({ ca, cert, key }: PemIdentity): SecureContextOptions => ({
  ...{ ca, cert, key, minVersion: 'TLSv1.3' },
  // Without tickets every connection shows its certificate anew: a resumed session could hide a revoked certificate.
  secureOptions: constants.SSL_OP_NO_TICKET,
})

function bounded<S extends Server | SecureServer>(server: S): S {
  server.maxConnections = MOST_CONNECTIONS
  server.on('clientError', (_, socket) => socket.destroy())
  // The agent supports neither proxying nor upgrades.
  for (const event of ['upgrade', 'connect', 'checkContinue', 'checkExpectation'] as const)
    server.on(event, (request: IncomingMessage) => request.socket.destroy())
  return server
}

/** Answers requests in progress before it ends, within a time limit. */
export async function closeServer(server: Server | SecureServer, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeIdleConnections()
  const timer = clock.after(CLOSE_MS, () => server.closeAllConnections())
  await promise.finally(() => timer.cancel())
}

const CLOSE_MS = 7_000

interface Budget {
  take(bytes: number): boolean
  give(bytes: number): void
}

const shared = { used: 0 }
const budget = (): Budget => ({
  take: (bytes) => {
    if (shared.used + bytes > MOST_BYTES) return false
    shared.used += bytes
    return true
  },
  give: (bytes) => {
    shared.used -= bytes
  },
})

/** Compiled with the first message of each verb. */
const checks = new Map<Verb, { Check(value: unknown): boolean }>()

function checkOf(verb: Verb) {
  const check = checks.get(verb) ?? Compile(VERBS[verb].ask)
  checks.set(verb, check)
  return check
}

const verbs = new Map<string | undefined, Verb>(Object.keys(VERBS).map((verb) => [PATH_OF(verb), verb as Verb]))

async function answer(parts: ServerParts, bytes: Budget, request: IncomingMessage, response: ServerResponse) {
  const verb = request.method === 'POST' ? verbs.get(request.url) : undefined
  const refuse = (status: number, reason: string) => {
    parts.onRefused({ verb: verb ?? 'unknown', reason })
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify({ error: reason }))
    if (!request.complete) request.socket.destroySoon()
  }
  const refusal = parts.refusalOf(request.socket)
  if (refusal !== undefined) return refuse(403, refusal)
  if (!verb) return refuse(404, 'There is no such verb.')
  if (request.headers['content-type'] !== 'application/json') return refuse(415, 'A message is application/json.')
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  if (!Number.isSafeInteger(length)) return refuse(411, 'A message has a Content-Length.')
  if (length > VERBS[verb].mostAsked)
    return refuse(413, `A message of this verb has at most ${VERBS[verb].mostAsked} bytes.`)
  if (!bytes.take(length)) return refuse(503, 'Too many large messages come at the same time.')
  try {
    const message = parsed(await bodyOf(request, length))
    if (!checkOf(verb).Check(message)) return refuse(400, 'The message does not have the form of its verb.')
    await (verb === 'change' ? change(parts, message, response) : reply(parts, verb, message, response))
  } catch (error) {
    if (error instanceof InvalidMessage) return refuse(400, error.message)
    // The client has disconnected.
    if (response.destroyed || request.socket.destroyed) return
    parts.onUnexpected(error, verb)
    refuse(500, 'The agent failed. Its log says why.')
  } finally {
    bytes.give(length)
  }
}

async function bodyOf(request: IncomingMessage, length: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (body.length !== length) throw new InvalidMessage('The message is cut off.')
  return body
}

function parsed(body: Buffer): unknown {
  const text = body.toString()
  const message = valueIn(text)
  const unsafe = unsafeKeyIn(text)
  if (unsafe !== undefined) throw new InvalidMessage(unsafe)
  return message
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidMessage('The message is not JSON.')
  }
}

async function reply(parts: ServerParts, verb: Exclude<Verb, 'change'>, message: unknown, response: ServerResponse) {
  const controller = new AbortController()
  const hungUp = () => controller.abort(new Error('The client has hung up.'))
  response.once('close', hungUp)
  const handle = parts.agent.handlers[verb] as (asked: unknown, signal: AbortSignal) => Promise<unknown>
  const body = await handle(message, controller.signal)
    .then(
      (answered) => ({ answer: answered }),
      (error: unknown) => {
        const fault = wireFault(error)
        if (!fault) throw error
        return { fault }
      },
    )
    .finally(() => response.off('close', hungUp))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** Streams the points of a change. The change continues even if the client disconnects. */
async function change({ agent }: ServerParts, message: unknown, response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  const say = (line: WireChangeLine) => void response.write(`${JSON.stringify(line)}\n`)
  const verdict = await agent.change(message as Parameters<Agent['change']>[0], (point) => say({ point }))
  say({ verdict })
  response.end()
}
