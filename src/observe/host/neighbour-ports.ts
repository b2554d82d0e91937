import type { EdgeMap } from '../../edge/reading/contract.ts'
import type { Endpoint } from '../../model/address.ts'
import { isPortAllowed, type PortPolicy } from '../../plan/settings.ts'

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
