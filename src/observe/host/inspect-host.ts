import type { ZoneRecord } from '../../dns/contract.ts'
import type { EdgeView } from '../../edge/contract/edge.ts'
import type { ErrorClass, Evidence, TargetEvidence } from '../../model/evidence.ts'
import type { Plan } from '../../model/exposure.ts'
import type { PortPolicy } from '../../plan/settings.ts'
import type { Clock } from '../../primitives/clock.ts'
import { type Deadline, ProbeLimit } from '../deadline.ts'
import { inspectBackend, NOT_INSPECTED } from './inspect-backend.ts'
import { EDGE_NOT_HERE, inspectEdge } from './inspect-edge.ts'
import { type Destination, judgeForeign, type NameStanding } from './inspect-name.ts'
import { inspectTarget, neighbourPorts, type Resolve } from './inspect-target.ts'
import { pathOf, type Subject } from './subject.ts'

/** Read-only: none of these parts can change anything. */
export interface InspectHostParts {
  /** Undefined when the Primary's edge is not on this machine. */
  readonly view: EdgeView | undefined
  readonly resolve: Resolve
  /** Compares the zone with the applied records of a managed host. */
  readonly standingOf: (plan: Plan, records: readonly ZoneRecord[]) => Promise<NameStanding>
  /** The expected addresses of a host that Drawbridge does not manage. */
  readonly destinationOf: (host: string) => Destination
  /** The id of the server with this address. */
  readonly serverAt: (address: string) => string | undefined
  readonly ports: PortPolicy
  /** The wait for an answer of the edge or a backend. It equals the monitor's wait. */
  readonly patienceMs: number
  readonly newestErrorClass: (host: string) => Promise<ErrorClass | null>
  readonly clock: Clock
}

/** A little longer than the limit of the DNS reader, which reports the reason of a timeout. */
const NAME_MS = 2_700
const LOG_MS = 1_000

/** Inspects all links at the same time. `since`: the start of the request by the clock's `monotonic`. */
export async function inspectHost(
  parts: InspectHostParts,
  subject: Subject,
  deadline: Deadline,
  since: number,
): Promise<Omit<Evidence, 'known' | 'exposure'>> {
  const probeLimit = new ProbeLimit(parts.patienceMs, deadline)
  const [name, edge, { target, backend }] = await Promise.all([
    inspectName(parts, subject, deadline),
    inspectFront(parts, subject, deadline, probeLimit),
    inspectBehindEdge(parts, subject, deadline, probeLimit),
  ])
  return {
    host: subject.host,
    at: parts.clock.now(),
    tookMs: Math.round(parts.clock.monotonic() - since),
    managed: subject.managed !== undefined,
    path: pathOf(subject),
    ...name,
    ...edge,
    target,
    backend,
  }
}

/** Reads the log last, because our own request may have caused the log line with the cause. */
async function inspectFront(
  { view, newestErrorClass }: InspectHostParts,
  subject: Subject,
  deadline: Deadline,
  probeLimit: ProbeLimit,
) {
  if (!view) return { ...EDGE_NOT_HERE, errorClass: null }
  const edge = await inspectEdge(view, subject, deadline, probeLimit)
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
      if (managed) return standingOf(managed.plan, managed.records)
      const answer = await resolve(host)
      return {
        name: answer ? judgeForeign(answer, destinationOf(host)) : { kind: 'not_asked', why: 'zone_not_managed' },
        // Drawbridge applied no record for this host, so none can be missing.
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
  probeLimit: ProbeLimit,
): Promise<{ target: TargetEvidence; backend: Evidence['backend'] }> {
  const resolveAsEdge: Resolve = async (name) => {
    const local = await view?.localAddress(name)
    return local === undefined ? resolve(name) : { kind: 'found', own: [local], final: [local] }
  }
  const evidence = await inspectTarget(subject, resolveAsEdge, deadline)
  const { target, address } = evidence
  const isRefused = address !== null && view?.isBehindAgent === true && serverAt(address) === undefined
  if (!target || address === null || isRefused) return { target: evidence, backend: NOT_INSPECTED }
  const endpoint = { address, port: target.port }
  const question = {
    target,
    address,
    path: pathOf(subject),
    host: subject.host,
    neighbours: () => neighbourPorts(endpoint, serverAt(address), ports, subject.map ?? { hosts: [] }),
  }
  return { target: evidence, backend: await inspectBackend(question, deadline, probeLimit) }
}
