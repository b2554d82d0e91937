import type { Caller } from '../authorize/caller.ts'
import { parseHost } from '../model/dns-name.ts'
import { Problem } from '../model/errors.ts'
import type { HostStatus } from '../model/host-status.ts'
import type { Board } from '../monitor/board.ts'

/** Whether callers of a network may know of a host. */
export type Visibility = (network: Caller['network']) => (host: Pick<HostStatus, 'managed'>) => boolean

/** `host` is canonical. One that is hidden from the caller is not there. */
export function findHost(board: Board, host: string, isShown: ReturnType<Visibility>): HostStatus {
  const status = board.find(host)
  if (status && isShown(status)) return status
  throw new Problem('host_not_found', 'No such host is served by the edge: it is not exposed and may be planned.')
}

/** The host that a caller means, in whatever spelling. */
export function canonicalHost(text: string): string {
  const host = parseHost(text)
  if (host) return host
  const errors = [{ field: 'host', message: 'must be a DNS name of letter-digit-hyphen labels' }]
  throw new Problem('invalid_request', 'The host is not a DNS name.', { errors })
}
