import type { Evidence, ExposureEvidence } from '../model/evidence.ts'
import type { Words } from './audience.ts'

/**
 * What Drawbridge itself can do about a cause. `overwrite`: a repair that discards what others changed. `accept`: to keep it.
 * Every interface has its own words for them.
 */
export const ACTS = ['repair', 'overwrite', 'accept', 'renew'] as const
export type Act = (typeof ACTS)[number]

/** The act for a cause of a managed host. `renew`: as long as the certificate is there as it was applied. */
export type Remedy = 'repair' | 'renew'

/** Empty for a host that Drawbridge does not manage, while a run holds the host, and where no act helps. */
export function actsFor(remedy: Remedy | undefined, evidence: Evidence): readonly Act[] {
  const { exposure } = evidence
  if (!remedy || exposure?.state !== 'applied') return []
  if (remedy === 'renew' && !isCertificateLost(exposure)) return exposure.renews && !isAhead(evidence) ? ['renew'] : []
  if (isForeign(evidence, exposure)) return ['overwrite', 'accept']
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
export function adviceOn(acts: readonly Act[], { inside }: Words): string | undefined {
  if (acts.includes('overwrite'))
    return inside(
      'Discard the change with POST /api/deploy/repair and overwrite: true, or keep it with POST /api/deploy/accept.',
      ASK_TO_REPAIR,
    )
  if (acts.includes('repair'))
    return inside('Write it again as it was applied with POST /api/deploy/repair.', ASK_TO_REPAIR)
  if (acts.includes('renew'))
    return inside(
      'Renew the certificate now with POST /api/deploy/renew.',
      'Ask the administrator of this service to renew the certificate.',
    )
  return undefined
}

/** Why no act is possible at the moment, for a cause that has a remedy. Undefined where nothing holds the host. */
export function heldAdvice(remedy: Remedy | undefined, { exposure }: Evidence, { inside }: Words): string | undefined {
  if (!remedy || !exposure || exposure.state === 'applied') return undefined
  return exposure.state === 'busy'
    ? 'A run is changing the host. Diagnose it again when the run has ended.'
    : inside(
        'The last run of the host could not be undone. Run drawbridge resolve with the plan id on the server.',
        'Ask the administrator of this service to resolve the last run of the host.',
      )
}
