import { IssueFault } from '../contract.ts'

const DEFAULT_RETRY_AFTER = 3_600
const LONGEST_RETRY_AFTER = 7 * 24 * 3_600

/** What an authority said instead of yes. Nothing of it is kept but the one word that its type ends with. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem'
  readonly status: number
  /** Such as `rateLimited` or `caa`. */
  readonly type: string | undefined
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

/** The word that the `type` of an RFC 8555 problem ends with; undefined for any other text, whoever wrote it. */
export function problemType(problem: unknown): string | undefined {
  if (typeof problem !== 'object' || problem === null || !('type' in problem)) return undefined
  return /^urn:ietf:params:acme:error:([A-Za-z]{1,40})$/.exec(String(problem.type))?.[1]
}

export function faultOf({ status, type, retryAfter }: AcmeProblem, authority: string): IssueFault {
  const who = `The certificate authority at ${authority}`
  if (status === 429 || type === 'rateLimited') {
    const seconds = retryAfter ?? DEFAULT_RETRY_AFTER
    return new IssueFault('rate_limited', `${who} issues no more for now (${type ?? 'HTTP 429'}).`, seconds)
  }
  if (status >= 400 && status < 500) return new IssueFault('rejected', `${who} refused (${type ?? `HTTP ${status}`}).`)
  // Told to come again later, by Let's Encrypt when too much comes from one address.
  return new IssueFault('unavailable', `${who} cannot be used: it answered HTTP ${status}.`, retryAfter)
}

/** A name for why there was no answer, never the message: it may hold what the other side sent. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it could not be asked'
  if (error.name === 'TimeoutError') return 'it did not answer in time'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return `it could not be asked (${code})`
}

/** Seconds, from a number of them or from a date. */
export function readRetryAfter(header: unknown, now: number): number | undefined {
  if (typeof header !== 'string') return undefined
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - now) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), LONGEST_RETRY_AFTER)
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
