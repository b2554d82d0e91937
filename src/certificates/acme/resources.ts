import { IssueFault } from '../contract.ts'
import type { HttpResponse } from './connection.ts'
import { readRetryAfter } from './problem.ts'

// The resources of RFC 8555 section 7.1 as the authority sent them. A response that is not what the RFC says throws IssueFault.

export interface Endpoints {
  readonly newNonce: string
  readonly newAccount: string
  readonly newOrder: string
}

const ORDER_STATES = ['pending', 'ready', 'processing', 'valid', 'invalid'] as const

export interface Order {
  readonly url: string
  readonly status: (typeof ORDER_STATES)[number]
  readonly authorizations: readonly string[]
  readonly finalize: string
  /** URL of the certificate chain, when the order is valid. */
  readonly certificate: string | undefined
  /** A problem document. */
  readonly error: unknown
  /** Seconds that the authority asked to wait before the next request for this order. */
  readonly retryAfter: number | undefined
}

interface Challenge {
  readonly type: string
  readonly url: string
  readonly status: unknown
  /** Not checked: see `isToken`. */
  readonly token: unknown
  /** A problem document. */
  readonly error: unknown
}

export interface Authorization {
  readonly status: string
  /** The host name, without the asterisk of a wildcard. */
  readonly host: string
  readonly challenges: readonly Challenge[]
}

export function readEndpoints(body: string): Endpoints {
  const { newNonce, newAccount, newOrder } = members(parsed(body))
  return { newNonce: text(newNonce), newAccount: text(newAccount), newOrder: text(newOrder) }
}

/** The body is optional. */
export function readAccount({ headers, body }: HttpResponse): { url: string; contact: readonly string[] } {
  const contact = body === '' ? undefined : members(parsed(body)).contact
  return { url: text(headers.location), contact: contact === undefined ? [] : list(contact).map(text) }
}

/** `now`: milliseconds since 1970. `url`: of the order; without it the response is one to a new order, and its Location header has the URL. */
export function readOrder(
  { headers, body }: HttpResponse,
  now: number,
  url: string | undefined = headers.location,
): Order {
  const order = members(parsed(body))
  const status = ORDER_STATES.find((state) => state === order.status)
  if (!status) throw notAcme()
  return {
    url: text(url),
    status,
    authorizations: list(order.authorizations).map(text),
    finalize: text(order.finalize),
    certificate: order.certificate === undefined ? undefined : text(order.certificate),
    error: order.error,
    retryAfter: readRetryAfter(headers['retry-after'], now),
  }
}

export function readAuthorization({ body }: HttpResponse): Authorization {
  const { status, identifier, challenges } = members(parsed(body))
  return {
    status: text(status),
    host: text(members(identifier).value),
    challenges: list(challenges).map((challenge) => {
      const { type, url, ...others } = members(challenge)
      return { type: text(type), url: text(url), status: others.status, token: others.token, error: others.error }
    }),
  }
}

/** Tokens are used in file names, URLs and configuration: only the alphabet of RFC 8555 section 8.1 is allowed. */
export const isToken = (token: unknown): token is string =>
  typeof token === 'string' && /^[A-Za-z0-9_-]{1,256}$/.test(token)

export const notAcme = (): IssueFault =>
  new IssueFault('unavailable', 'The certificate authority sent a response that is not valid ACME.')

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw notAcme()
  }
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw notAcme()
  return { ...value }
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw notAcme()
  return value
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw notAcme()
  return value
}
