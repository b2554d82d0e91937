import { Client } from 'undici'
import { type Endpoint, formatEndpoint } from '../model/address.ts'
import type { HealthFact } from '../model/finding.ts'

export interface HealthTarget extends Endpoint {
  readonly path: string
  /** The name it will be served under: the edge will call it by this name, so the probe does. */
  readonly host: string
}

/** Room for the status line and headers. Nothing behind them is wanted. */
const LARGEST_HEAD = 64 * 1024
/** Answers before the final one (102, 103). More are a flood. */
const MOST_INTERIM_ANSWERS = 16

/** One GET to exactly this address; only 2xx is healthy. Redirects are not followed and no body is taken in. */
export async function probeHealth(target: HealthTarget, limitMs = 3_000): Promise<HealthFact> {
  const started = performance.now()
  const latencyMs = () => Math.round(performance.now() - started)
  const client = new Client(`http://${formatEndpoint(target)}`, { pipelining: 0, maxHeaderSize: LARGEST_HEAD })
  try {
    const httpStatus = await statusOf(client, target, limitMs)
    if (httpStatus >= 200 && httpStatus < 300) return { kind: 'healthy', httpStatus, latencyMs: latencyMs() }
    return { kind: 'unhealthy', reason: 'status', httpStatus, latencyMs: latencyMs() }
  } catch (error) {
    return { kind: 'unhealthy', reason: reasonOf(error), latencyMs: latencyMs() }
  } finally {
    await client.destroy()
  }
}

/** The final status. The connection ends with it: whatever the backend goes on to send is never read. */
async function statusOf(client: Client, { path, host }: HealthTarget, limitMs: number): Promise<number> {
  const headers = { host, 'user-agent': 'drawbridge', accept: '*/*', 'accept-encoding': 'identity' }
  const flooded = new AbortController()
  let interimAnswers = 0
  const onInfo = () => {
    interimAnswers += 1
    if (interimAnswers > MOST_INTERIM_ANSWERS) flooded.abort()
  }
  const signal = AbortSignal.any([AbortSignal.timeout(limitMs), flooded.signal])
  const { statusCode, body } = await client.request({ method: 'GET', path, headers, signal, onInfo })
  body.on('error', () => undefined).destroy()
  return statusCode
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
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
}

/** Once a connection stands, everything that is neither silence nor a status is something else than HTTP. */
function reasonOf(error: unknown): Reason {
  if (!(error instanceof Error)) return 'not_http'
  if (error.name === 'TimeoutError') return 'timeout'
  return REASONS['code' in error ? String(error.code) : ''] ?? 'not_http'
}
