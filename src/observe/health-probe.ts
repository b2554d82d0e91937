import { readFileSync } from 'node:fs'
import { type ClientRequest, request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { connect } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import type { Endpoint } from '../model/address.ts'
import type { ConnectResult } from '../model/evidence.ts'
import type { HealthFact } from '../model/finding.ts'
import type { Clock } from '../primitives/clock.ts'
import { FairClock } from '../primitives/fair-clock.ts'

export interface HealthTarget extends Endpoint {
  readonly path: string
  /** The Host header: the edge will send the same name. */
  readonly host: string
  /** Use HTTPS without checking the certificate, as edges do. */
  readonly tls?: boolean
  /** Accept only a certificate of this authority for this name. */
  readonly trust?: { readonly caFile: string; readonly name: string } | undefined
}

/** The limit for the status line and headers. The body is not read. */
const MAX_HEAD_BYTES = 64 * 1024
/** Responses before the final one (102, 103). */
const MAX_INTERIM_ANSWERS = 16

/** Repeats a failed probe once if this process was delayed meanwhile. */
export async function probeFairly(
  target: HealthTarget,
  limitMs: number,
  signal?: AbortSignal,
  clock?: Clock,
): Promise<HealthFact> {
  using waited = new FairClock(clock)
  const first = await probeHealth(target, limitMs, signal, clock)
  return first.kind === 'healthy' || waited.lateMs === 0 ? first : probeHealth(target, limitMs, signal, clock)
}

/**
 * Sends one GET to exactly this address. Only 2xx is healthy. Follows no redirect and reads no body. Rejects only when
 * `signal` aborts, with its reason.
 */
export async function probeHealth(
  target: HealthTarget,
  limitMs = 3_000,
  signal?: AbortSignal,
  clock?: Clock,
): Promise<HealthFact> {
  using waited = new FairClock(clock)
  const latencyMs = () => Math.round(waited.elapsedMs)
  try {
    const httpStatus = await statusOf(target, { clock: waited, limitMs, signal })
    if (httpStatus >= 200 && httpStatus < 300) return { kind: 'healthy', httpStatus, latencyMs: latencyMs() }
    return { kind: 'unhealthy', reason: 'status', httpStatus, latencyMs: latencyMs() }
  } catch (error) {
    signal?.throwIfAborted()
    return { kind: 'unhealthy', reason: reasonOf(error), latencyMs: latencyMs() }
  }
}

/** The final status. The connection is closed at once and the body is not read. */
async function statusOf(
  { address, port, path, host, tls = false, trust }: HealthTarget,
  {
    clock,
    limitMs,
    signal,
  }: { readonly clock: FairClock; readonly limitMs: number; readonly signal: AbortSignal | undefined },
): Promise<number> {
  const headers = { host, 'user-agent': 'drawbridge', accept: '*/*', 'accept-encoding': 'identity' }
  const options = { host: address, port, path, headers, agent: false, maxHeaderSize: MAX_HEAD_BYTES }
  const trusted = trust
    ? { servername: trust.name, ca: readFileSync(trust.caFile) }
    : { servername: '', rejectUnauthorized: false }
  const asking = tls ? requestSecurely({ ...options, ...trusted }) : requestPlainly(options)
  clock.limit(limitMs, () => asking.destroy(new ProbeTimeout()), signal)
  return new Promise<number>((resolve, reject) => {
    asking.once('response', ({ statusCode = 0 }) => resolve(statusCode))
    asking.once('upgrade', () => reject(new Error('The backend switched to another protocol.')))
    asking.once('close', () => reject(new Error('The backend closed the connection without a response.')))
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
    if (interimAnswers > MAX_INTERIM_ANSWERS) asking.destroy(new Error('The backend sent too many interim responses.'))
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

/** After the connection is open, every failure that is not a timeout means that the backend does not speak HTTP. */
function reasonOf(error: unknown): Reason {
  if (!(error instanceof Error)) return 'not_http'
  if (error instanceof ProbeTimeout) return 'timeout'
  return REASONS['code' in error ? String(error.code) : ''] ?? 'not_http'
}

/** Opens one TCP connection and closes it at once. Never rejects. */
export function probeTcp({ address, port }: Endpoint, limitMs: number, clock: Clock): Promise<ConnectResult> {
  const socket = connect({ host: address, port })
  const { promise, resolve } = Promise.withResolvers<ConnectResult>()
  const timer = clock.after(limitMs, () => resolve('timeout'))
  socket.once('connect', () => resolve('open'))
  socket.on('error', (error) => resolve(CONNECT_REASONS['code' in error ? String(error.code) : ''] ?? 'unreachable'))
  return promise.finally(() => {
    timer.cancel()
    socket.destroy()
  })
}

const CONNECT_REASONS: Readonly<Record<string, ConnectResult>> = { ECONNREFUSED: 'refused', ETIMEDOUT: 'timeout' }

/** Whether a TLS handshake succeeds with any certificate. Never rejects. */
export function speaksTls({ address, port }: Endpoint, limitMs: number, clock: Clock): Promise<boolean> {
  const socket = connectSecurely({ host: address, port, rejectUnauthorized: false })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = clock.after(limitMs, () => resolve(false))
  socket.once('secureConnect', () => resolve(true))
  socket.on('error', () => resolve(false))
  socket.once('close', () => resolve(false))
  return promise.finally(() => {
    timer.cancel()
    socket.destroy()
  })
}
