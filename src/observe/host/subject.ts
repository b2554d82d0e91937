import type { FileHash } from '../../edge/contract.ts'
import type { EdgeMap, ServedHost } from '../../edge/reading/contract.ts'
import type { Target } from '../../model/evidence.ts'
import type { Plan } from '../../model/exposure.ts'

/** Who is looked at: a host of ours, of the edge's own configuration, or of both. */
export interface Subject {
  readonly host: string
  /** Undefined where this machine has no edge to read. */
  readonly map: EdgeMap | undefined
  readonly served: ServedHost | undefined
  readonly managed: ManagedHost | undefined
}

export interface ManagedHost {
  readonly plan: Plan
  /** What the apply last wrote. */
  readonly files: readonly FileHash[]
}

export const isTls = ({ managed, served }: Subject): boolean => managed?.plan.request.tls ?? served?.tls ?? false

/** The health path of ours; of any other host nobody knows more than `/`. */
export const pathOf = ({ managed }: Subject): string => managed?.plan.request.health ?? '/'

/** Where the plan passes requests on to. */
export function plannedTarget({ plan }: ManagedHost): Target | undefined {
  const proxy = plan.changes.find((change) => change.kind === 'proxy')
  const url = proxy && URL.canParse(proxy.target) ? new URL(proxy.target) : undefined
  if (!url) return undefined
  return { protocol: 'http', host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80) }
}
