import type { Caller } from '../../authorize/caller.ts'
import { parseHost } from '../../model/dns-name.ts'
import { Problem } from '../../model/errors.ts'
import { escapeText } from '../../model/escape-text.ts'
import { latenciesOf, stripOf, uptimeOf } from '../../model/history.ts'
import type { HostStatus } from '../../model/host-status.ts'
import type { Board } from '../../monitor/board.ts'
import type { HealthBody, HostRowBody } from '../schemas/status-schemas.ts'

type Network = Caller['network']

/** Addresses outside the registry are for callers inside only. */
export const serverFor =
  (network: Network) =>
  ({ server, address }: HostStatus): string | null =>
    server ?? (network === 'internal' && address !== null ? escapeText(address) : null)

/** A host as this caller may see it. */
export function hostRow(status: HostStatus, network: Network, at: number): HostRowBody {
  const { host, badge, managed, tls, since, lastCheck, history, fullCheck, expiresAt, planId } = status
  const { certificate } = fullCheck
  return {
    host,
    badge,
    server: serverFor(network)(status),
    managed,
    tls,
    since: timeText(since),
    checkedAt: timeText(lastCheck?.at ?? null),
    latencyMs: lastCheck?.latencyMs ?? null,
    uptime24h: uptimeOf(history, at),
    strip: stripOf(history, at),
    latencies: latenciesOf(history),
    certificate: certificate && { notAfter: new Date(certificate.notAfter).toISOString(), level: certificate.level },
    expiresAt: timeText(expiresAt),
    ...(planId !== null && network === 'internal' && { planId }),
  }
}

export function healthBody(status: HostStatus, network: Network, at: number): HealthBody {
  const { lastCheck, configPath } = status
  return {
    ...hostRow(status, network, at),
    lastCheck: lastCheck && checkBody(lastCheck),
    configPath: configPath === null ? null : escapeText(configPath),
  }
}

const checkBody = ({ at, ok, httpStatus, latencyMs, reason }: NonNullable<HostStatus['lastCheck']>) => ({
  at: new Date(at).toISOString(),
  ok,
  httpStatus,
  latencyMs,
  reason,
})

const timeText = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

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
