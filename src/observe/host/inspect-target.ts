import type { AddressAnswer } from '../../dns/contract.ts'
import type { EdgeMap } from '../../edge/reading/contract.ts'
import { type Endpoint, parseAddress } from '../../model/address.ts'
import type { Target, TargetEvidence } from '../../model/evidence.ts'
import { isPortAllowed, type PortPolicy } from '../../plan/settings.ts'
import type { Deadline } from '../deadline.ts'
import { plannedTarget, type Subject } from './subject.ts'

const RESOLVE_MS = 1_000

/** Gives a name its address; undefined: there is nobody to ask. */
export type Resolve = (name: string) => Promise<AddressAnswer | undefined>

/** Where requests for the host are passed on to, by the block on disk; by the plan where there is none. */
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

/** `none`: for certain it has none. Null: nobody knows. */
async function addressOf(name: string, resolve: Resolve, deadline: Deadline): Promise<string | 'none' | null> {
  const literal = parseAddress(name.replace(/^\[|\]$/g, ''))
  if (literal !== undefined) return literal
  const answer = await deadline.attempt(RESOLVE_MS, () => resolve(name), undefined)
  if (answer?.kind === 'missing') return 'none'
  return (answer?.kind === 'found' ? answer.final[0] : undefined) ?? null
}

/** How far beside its port a service that moved is looked for. A few ports of the same server, never a scan. */
const REACH = 3

/**
 * The ports beside a target's where nothing else is known to live: on a registered server, inside the port policy, and no
 * other host's backend. What answers there may be the same service on another port.
 */
export function neighbourPorts(
  { address, port }: Endpoint,
  server: string | undefined,
  policy: PortPolicy,
  { hosts }: Pick<EdgeMap, 'hosts'>,
): number[] {
  if (server === undefined) return []
  const taken = new Set(hosts.flatMap(({ target }) => (target?.host === address ? [target.port] : [])))
  const near = Array.from({ length: REACH }, (_, i) => [port + i + 1, port - i - 1]).flat()
  return near.filter((candidate) => isPortAllowed(policy, server, candidate) && !taken.has(candidate))
}
