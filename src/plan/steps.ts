import type { Change } from '../model/exposure.ts'
import type { StepName } from '../model/run.ts'
import type { ChallengeKind } from './settings.ts'

/**
 * The steps of an apply, in order. The DNS name comes last, so that it never points at an edge that does not serve it. With
 * http-01 the authority visits the name through the edge: then both must work before the certificate exists.
 */
export const stepsToApply = (
  tls: boolean,
  changes: readonly Change[],
  challenge: ChallengeKind,
): readonly StepName[] => [
  'check',
  ...inOrder(
    tls,
    changes.some((change) => change.kind === 'certificate' && change.action === 'issue'),
    challenge,
  ),
]

/** The steps of a repair, in order. `orders`: the certificate of the host is gone, and no other one covers it. */
export const stepsToRepair = (tls: boolean, orders: boolean, challenge: ChallengeKind): readonly StepName[] => [
  ...inOrder(tls, orders, challenge),
]

function inOrder(tls: boolean, orders: boolean, challenge: ChallengeKind): readonly StepName[] {
  if (!tls) return ['backup', 'proxy', 'dns', 'verify']
  if (orders && challenge === 'http-01') return ['backup', 'proxy', 'dns', 'certificate', 'proxy-tls', 'verify']
  return ['backup', 'certificate', 'proxy', 'dns', 'verify']
}

/** The steps of an apply that replaces an applied plan, in order. The name already leads to the edge, so DNS stays as it is. */
export const stepsToUpdate = (tls: boolean): readonly StepName[] =>
  tls ? ['check', 'backup', 'certificate', 'proxy', 'verify'] : ['check', 'backup', 'proxy', 'verify']
