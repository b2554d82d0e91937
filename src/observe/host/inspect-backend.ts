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
  /** The target's, resolved. */
  readonly address: string
  readonly path: string
  /** The name under which the edge calls it. */
  readonly host: string
  /** Where else the service may have gone. Asked only when nothing listens. */
  readonly neighbours: () => readonly number[]
}

/** Asks the backend itself, past the edge; and where that fails in a telling way, once more. */
export async function inspectBackend(
  question: BackendQuestion,
  deadline: Deadline,
  patience: ProbeLimit,
): Promise<BackendEvidence> {
  const { target, address, path, host, neighbours } = question
  const endpoint: Endpoint = { address, port: target.port }
  const asked: HealthTarget = { ...endpoint, path, host, tls: target.protocol === 'https' }
  const [tcp, health] = await Promise.all([
    patience.wait<ConnectResult>(
      (limitMs) => probeTcp(endpoint, limitMs),
      (reached) => reached === 'timeout',
      'unknown',
    ),
    patience.wait<HealthFact | null>((limitMs) => probeHealth(asked, limitMs), isSilence, null),
  ])
  if (tcp !== 'open') {
    const answering = tcp === 'refused' ? await answeringAmong(neighbours(), asked, deadline) : []
    return { ...NOT_INSPECTED, tcp, answeringNeighbours: answering }
  }
  const isTls =
    isTelling(health) && target.protocol === 'http'
      ? await deadline.attempt(FOLLOW_UP_MS, (limitMs) => speaksTls(endpoint, limitMs), false)
      : false
  return { tcp, health, speaksTls: isTls, answeringNeighbours: [] }
}

const isSilence = (health: HealthFact | null): boolean => health?.kind === 'unhealthy' && health.reason === 'timeout'

/** What a TLS server says to plain HTTP: nothing, nonsense, or 400. */
const isTelling = (health: HealthFact | null): boolean =>
  health?.kind === 'unhealthy' && (health.reason === 'not_http' || health.httpStatus === 400)

async function answeringAmong(ports: readonly number[], asked: HealthTarget, deadline: Deadline): Promise<number[]> {
  const answers = await Promise.all(
    ports.map((port) =>
      deadline.attempt<HealthFact | null>(FOLLOW_UP_MS, (limitMs) => probeHealth({ ...asked, port }, limitMs), null),
    ),
  )
  return ports.filter((_, i) => answers[i]?.httpStatus !== undefined)
}
