import { isGoodStatus } from '../model/badge.ts'
import type { Evidence } from '../model/evidence.ts'

/** Nothing is known against it. Other hosts than ours need not say 2xx on `/`: a redirect or a login is well, too. */
export function isBackendWell({ backend: { health }, managed }: Pick<Evidence, 'backend' | 'managed'>): boolean {
  if (health === null || health.kind === 'healthy') return true
  return health.httpStatus !== undefined && isGoodStatus(health.httpStatus, managed)
}
