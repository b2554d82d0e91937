import type { Caller } from '../authorize/caller.ts'
import { ADMIN_TOKEN_HEADER, CAPABILITY_HEADER, CAPABILITY_TTL_SECONDS } from '../authorize/credentials.ts'
import type { Config } from '../config/config.ts'
import { CAPABILITY_ACTIONS } from '../model/capability.ts'
import { CONFLICTING_TYPES } from '../model/finding.ts'
import { HEALTH_GRAMMAR } from '../plan/desired.ts'
import { HEALTH_TIMEOUT_SECONDS, type PortPolicy } from '../plan/settings.ts'

interface Standing {
  readonly ports: PortPolicy
  readonly version: string
  /** Why the edge of the Primary is not ready. */
  readonly edgeFault: string | undefined
}

/** The rules of this installation as a caller sees them, and what that caller may do under them. */
export function describePolicy(config: Config, { ports, version, edgeFault }: Standing, caller: Caller) {
  const { servers, zones, flow, internalNetworks, rateLimits } = config
  return {
    flow,
    servers: { targets: [...servers.targets], primary: servers.primary, secondary: servers.secondary ?? null },
    zones: [...zones.keys()],
    internalNetworks: [...internalNetworks],
    capability: {
      header: CAPABILITY_HEADER,
      ttlSeconds: CAPABILITY_TTL_SECONDS,
      uses: 1,
      boundTo: ['plan', 'digest', 'ip', 'action'],
    },
    adminToken: { accepted: acceptsAdminToken(config), header: ADMIN_TOKEN_HEADER },
    plan: { ttlSeconds: config.plan.ttlSeconds },
    ports: {
      allowed: ports.allowed.map((range) => [...range]),
      denied: [...ports.denied],
      deniedOn: Object.fromEntries(Object.entries(ports.deniedOn).map(([server, denied]) => [server, [...denied]])),
    },
    health: { pattern: HEALTH_GRAMMAR, timeoutSeconds: HEALTH_TIMEOUT_SECONDS },
    rateLimits,
    conflictingRecordTypes: [...CONFLICTING_TYPES],
    callOrder: [
      'GET /api/policy',
      'GET /api/health',
      'POST /api/deploy/plan',
      'POST /api/internal/token',
      'POST /api/deploy/apply',
      'POST /api/deploy/remove',
    ],
    caller: {
      network: caller.network,
      may: [...rightsOf(caller)].filter((right) => right !== 'adopt' || config.adopt.enabled),
    },
    apply: applying(config, edgeFault, caller),
    version,
    ...(caller.network === 'internal' && { configFile: config.file }),
  }
}

/** Whether a plan can be applied at all, and if not why. Public callers are told no more than what is missing. */
function applying({ servers, edges, agents, zones }: Config, edgeFault: string | undefined, { network }: Caller) {
  const { primary } = servers
  const reasons: string[] = []
  if (!edges[primary] && !agents[primary]) reasons.push('No edge is configured for the Primary.')
  if (edgeFault !== undefined)
    reasons.push(
      network === 'internal' ? `Edge ${primary} is not ready: ${edgeFault}` : `Edge ${primary} is not ready.`,
    )
  if ([...zones.values()].every(({ tsig }) => tsig === undefined)) reasons.push('No zone has a key for changes.')
  return { possible: reasons.length === 0, reasons }
}

const rightsOf = ({ network }: Caller) =>
  network === 'internal' ? (['read', 'plan', 'token', ...CAPABILITY_ACTIONS] as const) : (['read', 'plan'] as const)

export const acceptsAdminToken = ({ flow, adminToken, adminTokenValue }: Config): boolean =>
  adminTokenValue !== undefined && (flow === 'legacy' || adminToken === 'internal')
