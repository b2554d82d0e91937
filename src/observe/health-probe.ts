import { type ClientRequest, request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { connect } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import type { Endpoint } from '../model/address.ts'
import type { ConnectResult } from '../model/evidence.ts'
import type { HealthFact } from '../model/finding.ts'
import { FairClock } from '../primitives/fair-clock.ts'

export interface HealthTarget extends Endpoint {
  readonly path: string
  /** The name it will be served under: the edge will call it by this name, so the probe does. */
  readonly host: string
  /** By https, whoever its certificate is from: edges do not ask either. */
  readonly tls?: boolean
}

/** Room for the status line and headers. Nothing behind them is wanted. */
const MAX_HEAD_BYTES = 64 * 1024
/** Answers before the final one (102, 103). More are a flood. */
const MAX_INTERIM_ANSWERS = 16

/** A probe that is repeated once when it failed beside a time in which this process was late. */
export async function probeFairly(target: HealthTarget, limitMs: number): Promise<HealthFact> {
  using clock = new FairClock()
  const first = await probeHealth(target, limitMs)
  return first.kind === 'healthy' || clock.lateMs === 0 ? first : probeHealth(target, limitMs)
}

/** One GET to exactly this address; only 2xx is healthy. Redirects are not followed and no body is taken in. */
export async function probeHealth(target: HealthTarget, limitMs = 3_000): Promise<HealthFact> {
  using clock = new FairClock()
  const latencyMs = () => Math.round(clock.elapsedMs)
  try {
    const httpStatus = await statusOf(target, limitMs, clock)
    if (httpStatus >= 200 && httpStatus < 300) return { kind: 'healthy', httpStatus, latencyMs: latencyMs() }
    return { kind: 'unhealthy', reason: 'status', httpStatus, latencyMs: latencyMs() }
  } catch (error) {
    return { kind: 'unhealthy', reason: reasonOf(error), latencyMs: latencyMs() }
  }
}

/** The final status. The connection ends with it: whatever the backend goes on to send is never read. */
function statusOf(
  { address, port, path, host, tls = false }: HealthTarget,
  limitMs: number,
  clock: FairClock,
): Promise<number> {
  const headers = { host, 'user-agent': 'drawbridge', accept: '*/*', 'accept-encoding': 'identity' }
  const options = { host: address, port, path, headers, agent: false, maxHeaderSize: MAX_HEAD_BYTES }
  const asking = tls
    ? requestSecurely({ ...options, servername: '', rejectUnauthorized: false })
    : requestPlainly(options)
  clock.limit(limitMs, () => asking.destroy(new ProbeTimeout()))
  return new Promise<number>((resolve, reject) => {
    asking.once('response', ({ statusCode = 0 }) => resolve(statusCode))
    asking.once('upgrade', () => reject(new Error('switched to another protocol')))
    asking.once('close', () => reject(new Error('closed without an answer')))
    asking.on('error', reject)
    limitInterimAnswers(asking)
    asking.end()
  }).finally(() => asking.destroy())
}

class ProbeTimeout extends Error {}

function limitInterimAnswers(asking: ClientRequest): void {
  let interimAnswers = 0
  asking.on('information', () => {
    interimAnswers += 1
    if (interimAnswers > MAX_INTERIM_ANSWERS) asking.destroy(new Error('interim answers without end'))
  })
}

type Reason = Extract<HealthFact, { kind: 'unhealthy' }>['reason']

const REASONS: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EINVAL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
  ETIMEDOUT: 'timeout',
}

/** Once a connection stands, everything that is neither silence nor a status is something else than HTTP. */
function reasonOf(error: unknown): Reason {
  if (!(error instanceof Error)) return 'not_http'
  if (error instanceof ProbeTimeout) return 'timeout'
  return REASONS['code' in error ? String(error.code) : ''] ?? 'not_http'
}

/** One TCP connection, closed as soon as it stands. */
export function probeTcp({ address, port }: Endpoint, limitMs: number): Promise<ConnectResult> {
  const socket = connect({ host: address, port })
  return new Promise<ConnectResult>((resolve) => {
    socket.setTimeout(limitMs, () => resolve('timeout'))
    socket.once('connect', () => resolve('open'))
    socket.on('error', (error) => resolve(CONNECT_REASONS['code' in error ? String(error.code) : ''] ?? 'unreachable'))
  }).finally(() => socket.destroy())
}

const CONNECT_REASONS: Readonly<Record<string, ConnectResult>> = { ECONNREFUSED: 'refused', ETIMEDOUT: 'timeout' }

/** Whether somebody takes a TLS handshake there. Whom the certificate is from does not matter. */
export function speaksTls({ address, port }: Endpoint, limitMs: number): Promise<boolean> {
  const socket = connectSecurely({ host: address, port, rejectUnauthorized: false })
  return new Promise<boolean>((resolve) => {
    socket.setTimeout(limitMs, () => resolve(false))
    socket.once('secureConnect', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  }).finally(() => socket.destroy())
}
