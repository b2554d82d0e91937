import type { EdgeView } from '../../edge/contract.ts'
import type { ErrorClass, Evidence, TargetEvidence } from '../../model/evidence.ts'
import type { Plan } from '../../model/exposure.ts'
import type { PortPolicy } from '../../plan/settings.ts'
import { type Deadline, ProbeLimit } from '../deadline.ts'
import { inspectBackend, NOT_INSPECTED } from './inspect-backend.ts'
import { EDGE_NOT_HERE, inspectEdge } from './inspect-edge.ts'
import { type Destination, judgeForeign, type NameStanding } from './inspect-name.ts'
import { inspectTarget, neighbourPorts, type Resolve } from './inspect-target.ts'
import { pathOf, type Subject } from './subject.ts'

/** Everything that looking at a host takes, and nothing that could change what it looks at. */
export interface InspectHostParts {
  /** Undefined where the Primary's edge is not on this machine. */
  readonly view: EdgeView | undefined
  readonly resolve: Resolve
  /** How its zone stands to what was applied for a host of ours. */
  readonly standingOf: (plan: Plan) => Promise<NameStanding>
  /** Where a host that was not made here should lead. */
  readonly destinationOf: (host: string) => Destination
  /** The id of the server that has this address. */
  readonly serverAt: (address: string) => string | undefined
  readonly ports: PortPolicy
  /** How long an answer through the edge, or of a backend, is waited for: as long as the monitor waits. */
  readonly patienceMs: number
  readonly newestErrorClass: (host: string) => Promise<ErrorClass | null>
  readonly now: () => number
}

/** A DNS reader gives up by itself a little earlier, and says why. */
const NAME_MS = 2_700
const LOG_MS = 1_000

/** Looks at every link at the same time. `since` is when the question came, by `performance.now()`. */
export async function inspectHost(
  parts: InspectHostParts,
  subject: Subject,
  deadline: Deadline,
  since: number,
): Promise<Omit<Evidence, 'known'>> {
  const patience = new ProbeLimit(parts.patienceMs, deadline)
  const [name, edge, { target, backend }] = await Promise.all([
    inspectName(parts, subject, deadline),
    inspectFront(parts, subject, deadline, patience),
    inspectBehindEdge(parts, subject, deadline, patience),
  ])
  return {
    host: subject.host,
    at: parts.now(),
    tookMs: Math.round(performance.now() - since),
    managed: subject.managed !== undefined,
    path: pathOf(subject),
    ...name,
    ...edge,
    target,
    backend,
  }
}

/** The log is read last: our own visit may have left the line that tells why. */
async function inspectFront(
  { view, newestErrorClass }: InspectHostParts,
  subject: Subject,
  deadline: Deadline,
  patience: ProbeLimit,
) {
  if (!view) return { ...EDGE_NOT_HERE, errorClass: null }
  const edge = await inspectEdge(view, subject, deadline, patience)
  return { ...edge, errorClass: await deadline.attempt(LOG_MS, () => newestErrorClass(subject.host), null) }
}

async function inspectName(
  { resolve, standingOf, destinationOf }: InspectHostParts,
  { host, managed }: Subject,
  deadline: Deadline,
): Promise<NameStanding> {
  return deadline.attempt<NameStanding>(
    NAME_MS,
    async () => {
      if (managed) return standingOf(managed.plan)
      const answer = await resolve(host)
      return {
        name: answer ? judgeForeign(answer, destinationOf(host)) : { kind: 'not_asked', why: 'zone_not_managed' },
        // Nobody here applied a record for it, so none can be missing: its name has no part in its badge.
        records: null,
      }
    },
    { name: { kind: 'not_asked', why: 'no_time' }, records: null },
  )
}

async function inspectBehindEdge(
  { view, resolve, serverAt, ports }: InspectHostParts,
  subject: Subject,
  deadline: Deadline,
  patience: ProbeLimit,
): Promise<{ target: TargetEvidence; backend: Evidence['backend'] }> {
  const resolveAsEdge: Resolve = async (name) => {
    const local = await view?.localAddress(name)
    return local === undefined ? resolve(name) : { kind: 'found', own: [local], final: [local] }
  }
  const evidence = await inspectTarget(subject, resolveAsEdge, deadline)
  const { target, address } = evidence
  if (!target || address === null) return { target: evidence, backend: NOT_INSPECTED }
  const endpoint = { address, port: target.port }
  const question = {
    target,
    address,
    path: pathOf(subject),
    host: subject.host,
    neighbours: () => neighbourPorts(endpoint, serverAt(address), ports, subject.map ?? { hosts: [] }),
  }
  return { target: evidence, backend: await inspectBackend(question, deadline, patience) }
}
