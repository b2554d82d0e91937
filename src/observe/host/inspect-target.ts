import type { AddressAnswer } from '../../dns/contract.ts'
import type { ServedMap } from '../../edge/served.ts'
import { type Endpoint, parseAddress } from '../../model/address.ts'
import type { Target, TargetEvidence } from '../../model/evidence.ts'
import { isPortAllowed, type PortPolicy } from '../../plan/settings.ts'
import type { Deadline } from '../deadline.ts'
import { plannedTarget, type Subject } from './subject.ts'

const RESOLVE_MS = 1_000

/** Resolves a name; undefined when no server is configured for it. */
export type Resolve = (name: string) => Promise<AddressAnswer | undefined>

/** Where the edge proxies requests for the host: by the server block on disk, or by the plan when there is none. */
export async function inspectTarget(subject: Subject, resolve: Resolve, deadline: Deadline): Promise<TargetEvidence> {
  const { served, managed } = subject
  const planned = managed && plannedTarget(managed)
  const common = { proxyPass: served?.proxyPass ?? null, furtherTargets: served?.furtherTargets ?? 0, moved: false }
  if (served && !served.target) {
    const kind = served.unresolved ? 'variable' : served.proxyPass === null ? 'none' : 'found'
    return { ...common, kind, target: null, address: null, moved: planned !== undefined }
  }
  const target = served?.target ?? planned
  if (!target) return { ...common, kind: 'unknown', target: null, address: null }
  const address = await addressOf(target.host, resolve, deadline)
  return {
    ...common,
    kind: address === 'none' ? 'name_unresolved' : 'found',
    target,
    address: address === 'none' ? null : address,
    moved: planned !== undefined && !isSame(planned, target),
  }
}

const isSame = (left: Target, right: Target): boolean =>
  left.protocol === right.protocol && left.host === right.host && left.port === right.port

/** `none`: the name has no address. Null: the address is not known. */
async function addressOf(name: string, resolve: Resolve, deadline: Deadline): Promise<string | 'none' | null> {
  const literal = parseAddress(name.replace(/^\[|\]$/g, ''))
  if (literal !== undefined) return literal
  const answer = await deadline.attempt(RESOLVE_MS, () => resolve(name), undefined)
  if (answer?.kind === 'missing') return 'none'
  return (answer?.kind === 'found' ? answer.final[0] : undefined) ?? null
}

/** How many ports on each side are checked for a service that moved. It must stay small: this is not a port scan. */
const NEIGHBOUR_PORTS = 3

/**
 * The ports near the target's port that no other host uses: only on a registered server and only within the port policy. A
 * service that answers there may be the same service on another port.
 */
export function neighbourPorts(
  { address, port }: Endpoint,
  server: string | undefined,
  policy: PortPolicy,
  { hosts }: Pick<ServedMap, 'hosts'>,
): number[] {
  if (server === undefined) return []
  const taken = new Set(hosts.flatMap(({ target }) => (target?.host === address ? [target.port] : [])))
  const near = Array.from({ length: NEIGHBOUR_PORTS }, (_, i) => [port + i + 1, port - i - 1]).flat()
  return near.filter((candidate) => isPortAllowed(policy, server, candidate) && !taken.has(candidate))
}
