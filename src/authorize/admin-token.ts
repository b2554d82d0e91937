import { createHash, timingSafeEqual } from 'node:crypto'

export const ADMIN_TOKEN_HEADER = 'x-deploy-token'

/** True only for the configured token. With none configured nothing is right. Takes the same time for any wrong one. */
export function isAdminToken(presented: string, configured: string | undefined): boolean {
  const equal = timingSafeEqual(sha256(presented), sha256(configured ?? ''))
  return equal && configured !== undefined && configured !== ''
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
