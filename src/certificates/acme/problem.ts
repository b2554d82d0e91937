import { IssueFault, LONGEST_PAUSE_MS } from '../contract.ts'
import { ForeignOrigin } from './connection.ts'

const DEFAULT_RETRY_AFTER = 3_600

/** A response that is not a success. Of its problem document only the last word of its type is kept. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem'
  readonly status: number
  /** Such as `rateLimited` or `caa`. */
  readonly type: string | undefined
  /** Seconds. */
  readonly retryAfter: number | undefined

  constructor(status: number, type: string | undefined, retryAfter: number | undefined) {
    super(`the authority answered HTTP ${status}${type ? ` (${type})` : ''}`)
    this.status = status
    this.type = type
    this.retryAfter = retryAfter
  }
}

/** `now` in milliseconds since 1970. */
export const readProblem = (status: number, retryAfter: unknown, body: string, now: number): AcmeProblem =>
  new AcmeProblem(status, problemType(parse(body)), readRetryAfter(retryAfter, now))

/** The last word of the `type` of an RFC 8555 problem document; undefined for any other value. */
export function problemType(problem: unknown): string | undefined {
  if (typeof problem !== 'object' || problem === null || !('type' in problem)) return undefined
  return /^urn:ietf:params:acme:error:([A-Za-z]{1,40})$/.exec(String(problem.type))?.[1]
}

export function faultOf({ status, type, retryAfter }: AcmeProblem, authority: string): IssueFault {
  const subject = `The certificate authority at ${authority}`
  if (status === 429 || type === 'rateLimited') {
    const seconds = retryAfter ?? DEFAULT_RETRY_AFTER
    return new IssueFault('rate_limited', `${subject} limits the rate of requests (${type ?? 'HTTP 429'}).`, seconds)
  }
  if (status >= 400 && status < 500)
    return new IssueFault('rejected', `${subject} refused (${type ?? `HTTP ${status}`}).`, retryAfter)
  // Let's Encrypt sends 503 with Retry-After when too many requests come from one address.
  return new IssueFault('unavailable', `${subject} cannot be used: it answered HTTP ${status}.`, retryAfter)
}

/** Why a request got no response, as a clause. It has the code of the error, never the message: that may repeat what the server sent. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed'
  if (error instanceof ForeignOrigin) return 'its responses name a URL of another origin'
  if (error.name === 'TimeoutError') return 'it did not answer in time'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return `the request failed (${code})`
}

/** Seconds, from a Retry-After header with a number of seconds or a date. */
export function readRetryAfter(header: unknown, now: number): number | undefined {
  if (typeof header !== 'string') return undefined
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - now) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), LONGEST_PAUSE_MS / 1000)
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
