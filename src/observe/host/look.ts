import type { EdgeView } from '../../edge/contract.ts'
import type { ErrorClass } from '../../model/error-class.ts'
import type { Evidence, NameEvidence, TargetEvidence } from '../../model/evidence.ts'
import type { PortPolicy } from '../../plan/settings.ts'
import type { Deadline } from '../deadline.ts'
import { lookAtBackend, NOT_LOOKED_AT } from './backend-look.ts'
import { EDGE_NOT_HERE, lookAtEdge } from './edge-look.ts'
import { type Destination, judgeAnswer } from './name-look.ts'
import { neighbourPorts } from './neighbour-ports.ts'
import { appliedValues, pathOf, type Subject } from './subject.ts'
import { lookAtTarget, type Resolve } from './target-look.ts'

/** Everything that looking at a host takes, and nothing that could change what it looks at. */
export interface HostLookParts {
  /** Undefined where the Primary's edge is not on this machine. */
  readonly view: EdgeView | undefined
  readonly resolve: Resolve
  /** Where a host that was not made here should lead. */
  readonly destinationOf: (host: string) => Destination
  /** The id of the server that has this address. */
  readonly serverAt: (address: string) => string | undefined
  readonly ports: PortPolicy
  readonly newestErrorClass: (host: string) => Promise<ErrorClass | null>
  readonly now: () => number
}

const NAME_MS = 2_000
const LOG_MS = 1_000

/** Looks at every link at the same time. `since` is when the question came, by `performance.now()`. */
export async function lookAtHost(
  parts: HostLookParts,
  subject: Subject,
  deadline: Deadline,
  since: number,
): Promise<Evidence> {
  const [name, edge, { target, backend }] = await Promise.all([
    lookAtName(parts, subject, deadline),
    lookAtFront(parts, subject, deadline),
    lookBehind(parts, subject, deadline),
  ])
  return {
    host: subject.host,
    at: parts.now(),
    tookMs: Math.round(performance.now() - since),
    managed: subject.managed !== undefined,
    path: pathOf(subject),
    name,
    ...edge,
    target,
    backend,
  }
}

/** The log is read last: our own visit may have left the line that tells why. */
async function lookAtFront({ view, newestErrorClass }: HostLookParts, subject: Subject, deadline: Deadline) {
  if (!view) return { ...EDGE_NOT_HERE, errorClass: null }
  const edge = await lookAtEdge(view, subject, deadline)
  return { ...edge, errorClass: await deadline.attempt(LOG_MS, () => newestErrorClass(subject.host), null) }
}

async function lookAtName(
  { resolve, destinationOf }: HostLookParts,
  { host, managed }: Subject,
  deadline: Deadline,
): Promise<NameEvidence> {
  const answer = await deadline.attempt(NAME_MS, () => resolve(host), NO_TIME)
  if (answer === undefined) return { kind: 'not_asked', why: 'zone_not_managed' }
  if (answer === NO_TIME) return { kind: 'not_asked', why: 'no_time' }
  return judgeAnswer(answer, managed ? { kind: 'applied', values: appliedValues(managed) } : destinationOf(host))
}

const NO_TIME = { kind: 'uncertain', reason: 'there was no time left' } as const

async function lookBehind(
  { view, resolve, serverAt, ports }: HostLookParts,
  subject: Subject,
  deadline: Deadline,
): Promise<{ target: TargetEvidence; backend: Evidence['backend'] }> {
  const resolveAsEdge: Resolve = async (name) => {
    const local = await view?.localAddress(name)
    return local === undefined ? resolve(name) : { kind: 'found', own: [local], final: [local] }
  }
  const evidence = await lookAtTarget(subject, resolveAsEdge, deadline)
  const { target, address } = evidence
  if (!target || address === null) return { target: evidence, backend: NOT_LOOKED_AT }
  const endpoint = { address, port: target.port }
  const question = {
    target,
    address,
    path: pathOf(subject),
    host: subject.host,
    neighbours: () => neighbourPorts(endpoint, serverAt(address), ports, subject.map ?? { hosts: [] }),
  }
  return { target: evidence, backend: await lookAtBackend(question, deadline) }
}
