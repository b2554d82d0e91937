import type { X509Certificate } from 'node:crypto'
import { type ClientRequest, request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { TLSSocket } from 'node:tls'
import { formatEndpoint } from '../../model/address.ts'
import type { NoAnswerReason } from '../../model/badge.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { FairClock } from '../../primitives/fair-clock.ts'
import { ANSWER, entryIn, entryProof, QUESTION } from '../config/proof.ts'
import { UNKNOWN_HOST } from '../config/render-base.ts'
import type { EdgeAnswer, EdgeQuestion } from '../contract.ts'
import type { EdgeSettings } from '../settings.ts'

const TIMEOUT_MS = 5_000

type Served = Extract<EdgeAnswer, { kind: 'answer' }>['certificate']

/** One GET to the edge's own address under the host's name. Redirects are not followed and no body is taken in. */
export function askEdge(
  { address, ports }: Pick<EdgeSettings, 'address' | 'ports'>,
  question: EdgeQuestion,
  limitMs = TIMEOUT_MS,
): Promise<EdgeAnswer> {
  const { host, path, tls } = question
  const proof = question.proof === undefined ? undefined : entryProof(question.proof, host)
  const clock = new FairClock()
  const headers = { host, 'user-agent': 'drawbridge', ...(proof && { [QUESTION]: proof.question }) }
  const options = { host: address, path, headers, agent: false as const }
  // Whom the certificate is from is not the question here, but whether it is the one that was installed.
  const asking = tls
    ? requestSecurely({ ...options, port: ports.https, servername: host, rejectUnauthorized: false })
    : requestPlainly({ ...options, port: ports.http })
  return new Promise<EdgeAnswer>((resolve) => {
    const fail = (error?: Error) => resolve({ kind: 'no_answer', reason: reasonOf(error, isHandshaking(asking)) })
    clock.limit(limitMs, () => asking.destroy(new RequestTimeout()))
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
    // A switch of protocols (101) is neither a response nor an error: without these two it would be waited for for ever.
    asking.once('upgrade', () => fail())
    asking.once('close', () => fail())
    asking.on('error', fail)
    asking.end()
  }).finally(() => {
    clock.stop()
    asking.destroy()
  })
}

/** Beside the place that `askEdge` asks: further addresses and, beside TLS, the port that redirects to it. */
export async function foreignListeners(
  { address, listen, ports }: Pick<EdgeSettings, 'address' | 'listen' | 'ports'>,
  question: EdgeQuestion,
): Promise<string[]> {
  const addresses = new Set(listen.map((one) => (isUnspecified(one) ? address : one)))
  const places = [...addresses]
    .flatMap((one) => (question.tls ? [true, false] : [false]).map((tls) => ({ one, tls })))
    .filter(({ one, tls }) => one !== address || tls !== question.tls)
  const answers = await Promise.all(
    places.map(({ one, tls }) => askEdge({ address: one, ports }, { ...question, tls }, TIMEOUT_MS)),
  )
  return places
    .filter((_, index) => isOther(answers[index]))
    .map(({ one, tls }) => formatEndpoint({ address: one, port: tls ? ports.https : ports.http }))
}

const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::'

const isOther = (answer: EdgeAnswer | undefined): boolean =>
  answer?.kind === 'answer' ? answer.entry === 'other' : answer?.reason === 'unknown_host'

/** Asked for a name that no host has: only our own default server answers so. */
export async function defaultServerAnswers(settings: Pick<EdgeSettings, 'address' | 'ports'>): Promise<boolean> {
  const answer = await askEdge(settings, { host: 'nobody.invalid', path: '/', tls: false })
  return answer.kind === 'no_answer' && answer.reason === 'unknown_host'
}

export function certificateServed(socket: TLSSocket, host: string): Served {
  const x509 = socket.getPeerX509Certificate()
  if (!x509) return undefined
  return {
    fingerprint: x509.fingerprint256,
    names: namesOf(x509),
    coversHost: isForHost(x509, host),
    notBefore: x509.validFromDate.toISOString(),
    notAfter: x509.validToDate.toISOString(),
  }
}

export const isForHost = (x509: X509Certificate, host: string): boolean =>
  x509.checkHost(host, { subject: 'never', partialWildcards: false }) !== undefined

const namesOf = ({ subjectAltName = '' }: X509Certificate): string[] =>
  subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4).toLowerCase()] : []))

/** Connected, and not agreed on a cipher yet. */
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

/** By the code of a connection's error, where it has one. */
export function noAnswerReason(code: string | undefined, handshaking: boolean): NoAnswerReason {
  if (code === 'ETIMEDOUT') return 'timeout'
  if (code === 'ECONNREFUSED') return 'refused'
  if (code !== undefined && UNREACHABLE.includes(code)) return 'unreachable'
  return handshaking ? 'handshake_refused' : 'not_http'
}
