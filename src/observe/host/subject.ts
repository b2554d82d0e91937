import type { ZoneRecord } from '../../dns/contract.ts'
import type { AppliedEntry } from '../../edge/contract/list.ts'
import type { ServedHost, ServedMap } from '../../edge/served.ts'
import type { ExposureEvidence, Target } from '../../model/evidence.ts'
import type { Plan } from '../../model/exposure.ts'

/** The inspected host: managed by Drawbridge, in the edge's own configuration, or both. */
export interface Subject {
  readonly host: string
  /** Undefined when this machine has no edge. */
  readonly map: ServedMap | undefined
  readonly served: ServedHost | undefined
  readonly managed: ManagedHost | undefined
  /** What the configuration names for a host that is not managed. */
  readonly probePath?: string | undefined
}

export interface ManagedHost {
  readonly plan: Plan
  readonly state: ExposureEvidence['state']
  /** Whether Drawbridge renews the certificate of the host. */
  readonly renews: boolean
  /** What was applied. Undefined: a run changes it. */
  readonly entry: AppliedEntry | undefined
  /** The DNS records of the exposure. */
  readonly records: readonly ZoneRecord[]
}

export const isTls = ({ managed, served }: Subject): boolean => managed?.plan.request.tls ?? served?.tls ?? false

/** The health path of a managed host. For any other host the path of the configuration, or `/`. */
export const pathOf = ({ managed, probePath }: Subject): string => managed?.plan.request.health ?? probePath ?? '/'

/** The backend of the plan. */
export function plannedTarget({ plan }: ManagedHost): Target | undefined {
  const proxy = plan.changes.find((change) => change.kind === 'proxy')
  const url = proxy && URL.canParse(proxy.target) ? new URL(proxy.target) : undefined
  if (!url) return undefined
  return { protocol: 'http', host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80) }
}
