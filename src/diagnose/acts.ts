import type { Evidence, ExposureEvidence } from '../model/evidence.ts'
import type { Words } from './audience.ts'

/**
 * What Drawbridge itself can do about a cause. `overwrite`: a repair that discards what others changed. `accept`: to keep it.
 * `resolve`: a command on the server that ends a blocked run. Every interface has its own words for them.
 */
export const ACTS = ['repair', 'overwrite', 'accept', 'renew', 'resolve'] as const
export type Act = (typeof ACTS)[number]

/**
 * The act for a cause of a managed host. `restore`: a repair of what nobody can want to keep, such as a wrong certificate.
 * `renew`: as long as the certificate is there as it was applied.
 */
export type Remedy = 'repair' | 'restore' | 'renew' | 'resolve'

/** Empty for a host that Drawbridge does not manage, while a run holds the host, and where no act helps. */
export function actsFor(remedy: Remedy | undefined, evidence: Evidence): readonly Act[] {
  const { exposure } = evidence
  if (remedy === 'resolve') return exposure?.state === 'blocked' ? ['resolve'] : []
  if (!remedy || exposure?.state !== 'applied') return []
  if (remedy === 'renew' && !isCertificateLost(exposure)) return exposure.renews && !isAhead(evidence) ? ['renew'] : []
  if (isForeign(evidence, exposure)) return remedy === 'repair' ? ['overwrite', 'accept'] : ['overwrite']
  return exposure.differences?.length === 0 ? [] : ['repair']
}

const isCertificateLost = ({ differences }: ExposureEvidence): boolean =>
  differences?.some(({ part }) => part === 'certificate') ?? false

/** A certificate that is not valid yet: another one would not be valid either while the clock is wrong. */
const isAhead = ({ tls, at }: Evidence): boolean => tls.kind === 'certificate' && tls.notBefore > at

/** Whether a repair would overwrite a change of somebody else. Without a comparison the links tell. */
const isForeign = ({ file, name }: Evidence, { differences }: ExposureEvidence): boolean =>
  differences?.some(({ overwrite }) => overwrite) ?? (file === 'edited' || name.kind === 'elsewhere')

const ASK_TO_REPAIR = 'Ask the administrator of this service to repair the exposure.'

/** The acts in the words of the API. Undefined where there is none. */
export function adviceOn(acts: readonly Act[], { inside, resolve }: Words): string | undefined {
  if (acts.includes('resolve'))
    return `Run on the server: ${resolve}. It shows what is left and finishes the rollback; with --accept it leaves everything as it stands.`
  if (acts.includes('overwrite')) {
    const discard = 'Discard the change with POST /api/deploy/repair and overwrite: true'
    return inside(
      acts.includes('accept') ? `${discard}, or keep it with POST /api/deploy/accept.` : `${discard}.`,
      ASK_TO_REPAIR,
    )
  }
  if (acts.includes('repair'))
    return inside('Write it again as it was applied with POST /api/deploy/repair.', ASK_TO_REPAIR)
  if (acts.includes('renew'))
    return inside(
      'Renew the certificate now with POST /api/deploy/renew.',
      'Ask the administrator of this service to renew the certificate.',
    )
  return undefined
}

/** Why no act is possible at the moment, for a cause that has a remedy. Undefined where no run holds the host. */
export const heldAdvice = (remedy: Remedy | undefined, { exposure }: Evidence): string | undefined =>
  remedy && exposure?.state === 'busy'
    ? 'A run is changing the host. Diagnose it again when the run has ended.'
    : undefined
