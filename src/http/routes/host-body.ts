import type { Caller } from '../../authorize/caller.ts'
import { parseHost } from '../../model/dns-name.ts'
import { Problem } from '../../model/errors.ts'
import { escapeText } from '../../model/escape-text.ts'
import { latenciesOf, stripOf, uptimeOf } from '../../model/history.ts'
import {
  type EdgeStanding,
  type HostStatus,
  hostsOutOfStep,
  type Mute,
  type ServedCertificate,
} from '../../model/host-status.ts'
import type { Board } from '../../monitor/board.ts'
import type { HealthBody, HostRowBody, HostsBody } from '../schemas/status-schemas.ts'

type Network = Caller['network']

/** Only internal callers see addresses that are not in the registry. */
export const serverFor =
  (network: Network) =>
  ({ server, address }: HostStatus): string | null =>
    server ?? (network === 'internal' && address !== null ? escapeText(address) : null)

/** The row of a host with the members that the caller may see. */
export function hostRow(status: HostStatus, network: Network, at: number): HostRowBody {
  const { host, badge, managed, tls, since, lastCheck, history, fullCheck, expiresAt, planId, isBlocked, owner, note } =
    status
  const { certificate } = fullCheck
  return {
    host,
    badge,
    server: serverFor(network)(status),
    managed,
    tls,
    url: urlOf(status),
    since: timeText(since),
    checkedAt: timeText(lastCheck?.at ?? null),
    latencyMs: lastCheck?.latencyMs ?? null,
    uptime24h: uptimeOf(history, at),
    strip: stripOf(history, at),
    latencies: latenciesOf(history),
    certificate: certificate && certificateBody(host, certificate),
    expiresAt: timeText(expiresAt),
    ...(planId !== null && network === 'internal' && { planId }),
    ...(status.port !== undefined && network === 'internal' && { port: status.port }),
    ...(isBlocked && network === 'internal' && { blocked: true }),
    ...(status.inMaintenance && network === 'internal' && { maintenance: true }),
    ...(owner !== undefined && network === 'internal' && { owner }),
    ...(note !== undefined && network === 'internal' && { note }),
    ...(status.mute && network === 'internal' && { muted: muteBody(status.mute) }),
    ...(fullCheck.secondary && network === 'internal' && { secondary: fullCheck.secondary }),
  }
}

export const muteBody = ({ since, until, by, note }: Mute): NonNullable<HostRowBody['muted']> => ({
  since: timeText(since),
  until: timeText(until),
  by,
  ...(note !== undefined && { note }),
})

const certificateBody = (host: string, { notAfter, level, issuer, names }: ServedCertificate) => ({
  notAfter: new Date(notAfter).toISOString(),
  level,
  ...(issuer !== undefined && { issuer, names: [...(names ?? [host])] }),
})

export const patternBody = ({ name, kind, configPath, line, tls }: Board['patterns'][number]) => ({
  name: escapeText(name),
  kind,
  configPath: escapeText(configPath),
  line,
  tls,
})

/** The address that a visitor opens. */
function urlOf({ host, tls, listenAddress: { port } }: HostStatus): string {
  const usual = tls ? 443 : 80
  return `${tls ? 'https' : 'http'}://${host}${port === usual ? '' : `:${port}`}/`
}

export const edgeBody = (standing: EdgeStanding): NonNullable<HostsBody['edges']>[number] => {
  const { server, unknown, outOfStep, stray } = standing
  return {
    server,
    inStep: outOfStep === undefined,
    hosts: hostsOutOfStep(standing),
    unknown: unknown.length,
    stray: stray.map(({ file, lines }) => ({ file, lines: lines.length })),
    outOfStep: outOfStep
      ? { cause: outOfStep.cause, since: new Date(outOfStep.since).toISOString(), detail: outOfStep.sentence }
      : null,
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

export const timeText = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

/** Whether callers on a network may see a host. */
export type Visibility = (network: Caller['network']) => (host: Pick<HostStatus, 'host' | 'managed'>) => boolean

/**
 * Finds a host by its canonical name. A host that the caller may not see gets the same refusal as one that does not exist,
 * so the refusal must not depend on the host. The diagnosis answers with the same sentence.
 */
export function findHost(board: Board, host: string, isShown: ReturnType<Visibility>): HostStatus {
  const status = board.find(host)
  if (status && isShown(status)) return status
  throw new Problem('host_not_found', 'The edge does not serve this host.')
}

/** The canonical name of a host, from any spelling of a caller. */
export function canonicalHost(text: string): string {
  const host = parseHost(text)
  if (host) return host
  const errors = [{ field: 'host', message: 'must be a DNS name of letter-digit-hyphen labels' }]
  throw new Problem('invalid_request', 'The value of host is not a DNS name.', { errors })
}
