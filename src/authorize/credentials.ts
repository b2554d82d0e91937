import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A capability permits one run of one plan. It is 256 random bits; only the answer that issues it has them in clear text. */
export const CAPABILITY_HEADER = 'x-deploy-capability'
export const CAPABILITY_TTL_SECONDS = 300

const FORM = /^cap_[A-Za-z0-9_-]{43}$/

const ANYWHERE = /cap_[A-Za-z0-9_-]{20,}/g

/** Removes capabilities from text, for logs and for answers that repeat input of a caller. */
export const hideCapabilities = (text: string): string => text.replace(ANYWHERE, '[capability]')

export const newCapability = (): string => `cap_${randomBytes(32).toString('base64url')}`

export const isCapability = (text: string): boolean => FORM.test(text)

export const hashCapability = (capability: string): string => createHash('sha256').update(capability).digest('hex')

export const ADMIN_TOKEN_HEADER = 'x-deploy-token'

/** True only for the configured token. Without a configured token no token is valid. The comparison takes constant time. */
export function isAdminToken(presented: string, configured: string | undefined): boolean {
  const equal = timingSafeEqual(sha256(presented), sha256(configured ?? ''))
  return equal && configured !== undefined && configured !== ''
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
