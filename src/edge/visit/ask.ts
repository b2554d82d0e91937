import type { X509Certificate } from 'node:crypto'
import { type ClientRequest, request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { formatEndpoint } from '../../model/address.ts'
import type { NoAnswerReason } from '../../model/badge.ts'
import type { Clock } from '../../primitives/clock.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { FairClock } from '../../primitives/fair-clock.ts'
import { EDGE_NAME, type EdgeAnswer, type EdgeQuestion } from '../contract/visit.ts'
import { ANSWER, entryIn, entryProof, QUESTION, UNKNOWN_HOST } from '../record/proof.ts'

/** How an edge is visited. */
interface VisitedEdge {
  readonly address: string
  readonly ports: { readonly http: number; readonly https: number }
  readonly clock: Clock
}

const TIMEOUT_MS = 5_000

let context: SecureContext | undefined

/** TLS options that accept any certificate. The context is shared: making one costs as much as a handshake. */
export function unverified(): { readonly secureContext: SecureContext; readonly rejectUnauthorized: false } {
  context ??= createSecureContext()
  return { secureContext: context, rejectUnauthorized: false }
}

type Served = Extract<EdgeAnswer, { kind: 'answer' }>['certificate']

/**
 * Sends one GET with the host's name to the edge's own address. Follows no redirect and reads no body. Rejects only when
 * `signal` aborts, with its reason.
 */
export function askEdge(
  { address, ports, clock: base }: VisitedEdge,
  question: EdgeQuestion,
  limitMs = TIMEOUT_MS,
  signal?: AbortSignal,
): Promise<EdgeAnswer> {
  const { host, path, tls } = question
  const proof = question.proof === undefined ? undefined : entryProof(question.proof, host)
  const clock = new FairClock(base)
  const headers = { host, 'user-agent': 'drawbridge', ...(proof && { [QUESTION]: proof.question }) }
  const options = { host: address, path, headers, agent: false as const }
  // The issuer of the certificate does not matter here. Callers compare its fingerprint.
  const asking = tls
    ? requestSecurely({ ...options, ...unverified(), port: ports.https, servername: host })
    : requestPlainly({ ...options, port: ports.http })
  return new Promise<EdgeAnswer>((resolve) => {
    const fail = (error?: Error) => resolve({ kind: 'no_answer', reason: reasonOf(error, isHandshaking(asking)) })
    clock.limit(limitMs, () => asking.destroy(new RequestTimeout()), signal)
    asking.once('response', (response) => {
      if (response.headers[UNKNOWN_HOST.header.toLowerCase()] === UNKNOWN_HOST.value) {
        resolve({ kind: 'no_answer', reason: 'unknown_host' })
      }
      const certificate = asking.socket instanceof TLSSocket ? certificateServed(asking.socket, host) : undefined
      const latencyMs = Math.round(clock.elapsedMs)
      const entry = entryIn(proof, response.headers[ANSWER.toLowerCase()]?.toString())
      resolve({
        ...{ kind: 'answer', httpStatus: response.statusCode ?? 0, latencyMs },
        ...(entry && { entry }),
        ...(certificate && { certificate }),
      })
      response.on('error', () => undefined)
    })
    // A switch of protocols (101) is neither a response nor an error. Without these two listeners it would never settle.
    asking.once('upgrade', () => fail())
    asking.once('close', () => fail())
    asking.on('error', fail)
    asking.end()
  })
    .then((answer) => {
      signal?.throwIfAborted()
      return answer
    })
    .finally(() => {
      clock.stop()
      asking.destroy()
    })
}

/** Asks every place but the one that `askEdge` uses: other addresses and, for a TLS host, the HTTP port. */
export async function foreignListeners(
  { address, listen, ports, clock }: VisitedEdge & { readonly listen: readonly string[] },
  question: EdgeQuestion,
  signal?: AbortSignal,
): Promise<string[]> {
  const addresses = new Set(listen.map((one) => (isUnspecified(one) ? address : one)))
  const places = [...addresses]
    .flatMap((one) => (question.tls ? [true, false] : [false]).map((tls) => ({ one, tls })))
    .filter(({ one, tls }) => one !== address || tls !== question.tls)
  const answers = await Promise.all(
    places.map(({ one, tls }) => askEdge({ address: one, ports, clock }, { ...question, tls }, TIMEOUT_MS, signal)),
  )
  return places
    .filter((_, index) => isOther(answers[index]))
    .map(({ one, tls }) => formatEndpoint({ address: one, port: tls ? ports.https : ports.http }))
}

const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::'

const isOther = (answer: EdgeAnswer | undefined): boolean =>
  answer?.kind === 'answer' ? answer.entry === 'other' : answer?.reason === 'unknown_host'

/** Asks for a name that no host has. Only Drawbridge's own server sends the header UNKNOWN_HOST. */
export async function edgeAnswers(settings: VisitedEdge, signal?: AbortSignal): Promise<boolean> {
  const answer = await askEdge(settings, { host: EDGE_NAME, path: '/', tls: false }, TIMEOUT_MS, signal)
  return answer.kind === 'no_answer' && answer.reason === 'unknown_host'
}

export function certificateServed(socket: TLSSocket, host: string): Served {
  const x509 = socket.getPeerX509Certificate()
  if (!x509) return undefined
  return {
    fingerprint: x509.fingerprint256,
    names: namesOf(x509),
    ...issuerOf(x509),
    coversHost: isForHost(x509, host),
    notBefore: x509.validFromDate.toISOString(),
    notAfter: x509.validToDate.toISOString(),
  }
}

const LONGEST_ISSUER = 100

/** A certificate can hold any text: what is not a letter, a digit or plain punctuation becomes a question mark. */
export const plainIssuer = (name: string): string =>
  name.replace(/[^\p{L}\p{N} .,'()&_-]/gu, '?').slice(0, LONGEST_ISSUER)

function issuerOf({ issuer }: X509Certificate): { issuer?: string } {
  const parts = new Map(
    issuer.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  const name = parts.get('CN') ?? parts.get('O')
  return name ? { issuer: plainIssuer(name) } : {}
}

export const isForHost = (x509: X509Certificate, host: string): boolean =>
  x509.checkHost(host, { subject: 'never', partialWildcards: false }) !== undefined

const namesOf = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4).toLowerCase()] : []))

/** Connected, but the TLS handshake has not ended. */
const isHandshaking = ({ socket }: ClientRequest): boolean =>
  socket instanceof TLSSocket && socket.getProtocol() === null

const UNREACHABLE = [
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EINVAL',
  'EACCES',
  'EPERM',
]

class RequestTimeout extends Error {
  readonly code = 'ETIMEDOUT'
}

const reasonOf = (error: Error | undefined, handshaking: boolean): NoAnswerReason =>
  noAnswerReason(errorCode(error), handshaking)

/** `code`: the error code of the connection, if it has one. */
export function noAnswerReason(code: string | undefined, handshaking: boolean): NoAnswerReason {
  if (code === 'ETIMEDOUT') return 'timeout'
  if (code === 'ECONNREFUSED') return 'refused'
  if (code !== undefined && UNREACHABLE.includes(code)) return 'unreachable'
  return handshaking ? 'handshake_refused' : 'not_http'
}
