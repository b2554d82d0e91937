import type { Authorization, Order } from 'acme-client'

/** acme-client hands on whatever the authority sent. What it has no reason to send is no answer: these throw. */
const ORDER_STATES = new Set<unknown>(['pending', 'ready', 'processing', 'valid', 'invalid'])

export function soundOrder(order: Order): Order {
  const { status, url, finalize, authorizations } = order
  const isSound = ORDER_STATES.has(status) && isText(url) && isText(finalize) && authorizations.every(isText)
  return assertSound(isSound, order)
}

export function soundAuthorization(authorization: Authorization): Authorization {
  const { status, identifier, challenges } = authorization
  const areChallengesSound = challenges.every(({ type, url }) => isText(type) && isText(url))
  return assertSound(isText(status) && isText(identifier.value) && areChallengesSound, authorization)
}

/** Tokens go into names of files, addresses and configuration: nothing but RFC 8555's alphabet may. */
export const isToken = (token: unknown): boolean => typeof token === 'string' && /^[A-Za-z0-9_-]{1,256}$/.test(token)

export const soundChain = (chain: string): string => assertSound(isText(chain), chain)

const isText = (value: unknown): boolean => typeof value === 'string'

function assertSound<T>(isSound: boolean, value: T): T {
  if (!isSound) throw new Error('not what RFC 8555 says')
  return value
}
