/** The state of a host in one word, as the status screen shows it. */
export type Badge = 'RUNNING' | 'DOWN' | 'NO DNS' | 'CERT' | 'DRIFT' | 'PENDING' | `HTTP ${number}`

/** The regular expression of a badge, for schemas. */
export const BADGE_GRAMMAR = '(?:RUNNING|DOWN|NO DNS|CERT|DRIFT|PENDING|HTTP [0-9]{3})'

export type CertificateLevel = 'ok' | 'warning' | 'critical' | 'expired'

export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

/** Uses the remaining share of the lifetime, so that the same rule works for certificates of six days and of a year. */
export function certificateLevel({ notBefore, notAfter }: Validity, now: number): CertificateLevel {
  const left = notAfter - now
  const life = notAfter - notBefore
  if (left <= 0) return 'expired'
  if (left <= life / 6) return 'critical'
  return left <= life / 3 ? 'warning' : 'ok'
}

/** `handshake_refused`: the edge ended the TLS handshake. `unknown_host`: its default server answered instead. */
export const NO_ANSWER_REASONS = [
  'refused',
  'unreachable',
  'timeout',
  'handshake_refused',
  'not_http',
  'unknown_host',
] as const
export type NoAnswerReason = (typeof NO_ANSWER_REASONS)[number]

/** How a host answered through its edge. `httpStatus` is null when it did not answer; `reason` says why. */
export interface CheckAnswer {
  readonly httpStatus: number | null
  readonly reason: NoAnswerReason | null
  /** Whether the applied entry answered, or another server block. Undefined: not known. */
  readonly entry?: 'ours' | 'other' | undefined
}

/** The facts that decide a badge. An unknown fact (null) has no influence. */
export interface BadgeFacts {
  readonly managed: boolean
  /** Null: the host was never checked. */
  readonly answer: CheckAnswer | null
  /** Whether DNS serves the applied records. Always null for a host that Drawbridge did not create. */
  readonly dns: 'ours' | 'not_ours' | null
  /** The state of the served certificate. `wrong_name`: it does not cover the host. */
  readonly certificate: CertificateLevel | 'wrong_name' | null
  /** Whether the files on the edge equal the applied files. */
  readonly file: 'unchanged' | 'edited' | null
  /** The statuses that are good for this host. Undefined: those of `isGoodStatus`. */
  readonly goodStatuses?: StatusRanges | undefined
}

/** Each from and to, both included. */
export type StatusRanges = readonly (readonly [number, number])[]

/**
 * The facts after a check. A null in `seen` means that the check did not ask or got no answer; the earlier value stays.
 * The monitor and the diagnosis both call this function, so the same facts give the same badge.
 */
export const mergeFacts = (known: BadgeFacts | null, seen: BadgeFacts): BadgeFacts => ({
  managed: seen.managed,
  answer: seen.answer ?? known?.answer ?? null,
  dns: seen.dns ?? known?.dns ?? null,
  certificate: seen.certificate ?? known?.certificate ?? null,
  file: seen.file ?? known?.file ?? null,
  goodStatuses: seen.goodStatuses ?? known?.goodStatuses,
})

/** The most severe known problem. Problems that visitors notice come before problems that only the owner notices. */
export function badgeOf({ managed, answer, dns, certificate, file, goodStatuses }: BadgeFacts): Badge {
  if (!answer) return 'PENDING'
  if (answer.httpStatus === null) return answer.reason === 'handshake_refused' ? 'CERT' : 'DOWN'
  if (!isGoodStatus(answer.httpStatus, managed, goodStatuses)) return `HTTP ${answer.httpStatus}`
  if (dns === 'not_ours') return 'NO DNS'
  if (certificate !== null && certificate !== 'ok') return 'CERT'
  return file === 'edited' || answer.entry === 'other' ? 'DRIFT' : 'RUNNING'
}

/** Whether a visitor gets what he came for. This is uptime. Only the owner notices an edited file, and a certificate that ends soon. */
export const servesVisitors = (facts: BadgeFacts): boolean => {
  const isUnusable = facts.certificate === 'expired' || facts.certificate === 'wrong_name'
  return badgeOf({ ...facts, file: null, certificate: isUnusable ? facts.certificate : null }) === 'RUNNING'
}

/** A managed host must answer 2xx on its health path. Other hosts are asked for `/`, where a redirect or a login is fine. */
export const isGoodStatus = (
  httpStatus: number,
  managed: boolean,
  good: StatusRanges = managed ? GOOD_IF_MANAGED : GOOD_ELSEWHERE,
): boolean => good.some(([first, last]) => httpStatus >= first && httpStatus <= last)

const GOOD_IF_MANAGED: StatusRanges = [[200, 299]]
const GOOD_ELSEWHERE: StatusRanges = [
  [200, 399],
  [401, 401],
  [403, 403],
]
