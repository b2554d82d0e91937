import type { Caller } from '../authorize/caller.ts'
import { shown } from '../model/foreign-text.ts'
import { latenciesOf, stripOf, uptimeOf } from '../model/history.ts'
import type { HostStatus } from '../model/host-status.ts'
import type { HealthBody, HostRowBody } from './status-schemas.ts'

type Network = Caller['network']

/** Addresses outside the registry are for callers inside only. */
export const serverFor =
  (network: Network) =>
  ({ server, address }: HostStatus): string | null =>
    server ?? (network === 'internal' && address !== null ? shown(address) : null)

/** A host as this caller may see it. */
export function hostRow(status: HostStatus, network: Network, at: number): HostRowBody {
  const { host, badge, managed, tls, since, lastCheck, history, sightings, expiresAt, planId } = status
  const { certificate } = sightings
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
    configPath: configPath === null ? null : shown(configPath),
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
