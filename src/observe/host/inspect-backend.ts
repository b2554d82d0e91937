import type { Endpoint } from '../../model/address.ts'
import type { BackendEvidence, ConnectResult, Target } from '../../model/evidence.ts'
import type { HealthFact } from '../../model/finding.ts'
import type { Deadline, ProbeLimit } from '../deadline.ts'
import { type HealthTarget, probeHealth, probeTcp, speaksTls } from '../health-probe.ts'

export const NOT_INSPECTED: BackendEvidence = {
  tcp: 'unknown',
  health: null,
  speaksTls: false,
  answeringNeighbours: [],
}

const FOLLOW_UP_MS = 800

interface BackendQuestion {
  readonly target: Target
  /** The resolved address of `target`. */
  readonly address: string
  readonly path: string
  /** The Host header that the edge sends. */
  readonly host: string
  /** Ports to which the service may have moved. Called only when the target refuses connections. */
  readonly neighbours: () => readonly number[]
}

/** Sends requests to the backend itself, without the edge. Some failures lead to a second check. */
export async function inspectBackend(
  question: BackendQuestion,
  deadline: Deadline,
  probeLimit: ProbeLimit,
): Promise<BackendEvidence> {
  const { target, address, path, host, neighbours } = question
  const endpoint: Endpoint = { address, port: target.port }
  const asked: HealthTarget = { ...endpoint, path, host, tls: target.protocol === 'https' }
  const [tcp, health] = await Promise.all([
    probeLimit.wait<ConnectResult>(
      (limitMs) => probeTcp(endpoint, limitMs, deadline.clock),
      (reached) => reached === 'timeout',
      'unknown',
    ),
    speaksHttp(target.protocol)
      ? probeLimit.wait<HealthFact | null>(
          (limitMs) => probeHealth(asked, limitMs, undefined, deadline.clock),
          isTimeout,
          null,
        )
      : null,
  ])
  if (tcp !== 'open') {
    const answering =
      tcp === 'refused' && speaksHttp(target.protocol) ? await answeringAmong(neighbours(), asked, deadline) : []
    return { ...NOT_INSPECTED, tcp, answeringNeighbours: answering }
  }
  const isTls =
    mayBeTls(health) && target.protocol === 'http'
      ? await deadline.attempt(FOLLOW_UP_MS, (limitMs) => speaksTls(endpoint, limitMs, deadline.clock), false)
      : false
  return { tcp, health, speaksTls: isTls, answeringNeighbours: [] }
}

/** Other protocols, such as that of php-fpm, are not spoken here: such a backend accepts connections or does not. */
const speaksHttp = (protocol: Target['protocol']): boolean => protocol === 'http' || protocol === 'https'

const isTimeout = (health: HealthFact | null): boolean => health?.kind === 'unhealthy' && health.reason === 'timeout'

/** A TLS server answers plain HTTP with 400 or with something that is not HTTP. */
const mayBeTls = (health: HealthFact | null): boolean =>
  health?.kind === 'unhealthy' && (health.reason === 'not_http' || health.httpStatus === 400)

async function answeringAmong(ports: readonly number[], asked: HealthTarget, deadline: Deadline): Promise<number[]> {
  const answers = await Promise.all(
    ports.map((port) =>
      deadline.attempt<HealthFact | null>(
        FOLLOW_UP_MS,
        (limitMs) => probeHealth({ ...asked, port }, limitMs, undefined, deadline.clock),
        null,
      ),
    ),
  )
  return ports.filter((_, i) => answers[i]?.httpStatus !== undefined)
}
