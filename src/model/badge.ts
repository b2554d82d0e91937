/** What the status screen shows of a host, in one word. */
export type Badge = 'RUNNING' | 'DOWN' | 'NO DNS' | 'CERT' | 'DRIFT' | 'PENDING' | `HTTP ${number}`

/** Of a badge as text, for schemas. */
export const BADGE_GRAMMAR = '(?:RUNNING|DOWN|NO DNS|CERT|DRIFT|PENDING|HTTP [0-9]{3})'

export type CertificateLevel = 'ok' | 'warning' | 'critical' | 'expired'

export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

/** By the share of its life that is left, so that certificates of six days and of a year are judged alike. */
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

/** How a host answered through its edge; `httpStatus` null: it did not, and `reason` says why. */
export interface CheckAnswer {
  readonly httpStatus: number | null
  readonly reason: NoAnswerReason | null
  /** Whether the entry that was applied answered, or another server block; undefined where that cannot be told. */
  readonly entry?: 'ours' | 'other' | undefined
}

/** Everything that a badge is made of. What is not known counts for nothing. */
export interface BadgeFacts {
  readonly managed: boolean
  /** Null: never checked. */
  readonly answer: CheckAnswer | null
  /** Whether DNS serves what was applied. Always null for a host that was not made here: no record was applied for it. */
  readonly dns: 'ours' | 'not_ours' | null
  /** Of the certificate that was served. `wrong_name`: it is for other names. */
  readonly certificate: CertificateLevel | 'wrong_name' | null
  /** Whether the files are what was applied. */
  readonly file: 'unchanged' | 'edited' | null
}

/**
 * What is known after a look. A null in `seen` is a question that was not asked or not answered: it changes nothing, and
 * what was known before stands. The monitor and the diagnosis both go this way, so the same facts give the same badge.
 */
export const learned = (known: BadgeFacts | null, seen: BadgeFacts): BadgeFacts => ({
  managed: seen.managed,
  answer: seen.answer ?? known?.answer ?? null,
  dns: seen.dns ?? known?.dns ?? null,
  certificate: seen.certificate ?? known?.certificate ?? null,
  file: seen.file ?? known?.file ?? null,
})

/** The worst that is known: what a visitor meets first goes before what only its owner would notice. */
export function badgeOf({ managed, answer, dns, certificate, file }: BadgeFacts): Badge {
  if (!answer) return 'PENDING'
  if (answer.httpStatus === null) return answer.reason === 'handshake_refused' ? 'CERT' : 'DOWN'
  if (!isGoodStatus(answer.httpStatus, managed)) return `HTTP ${answer.httpStatus}`
  if (dns === 'not_ours') return 'NO DNS'
  if (certificate !== null && certificate !== 'ok') return 'CERT'
  return file === 'edited' || answer.entry === 'other' ? 'DRIFT' : 'RUNNING'
}

/** The health path of a managed host must say 2xx; of any other host nobody knows more than that `/` is served. */
export const isGoodStatus = (httpStatus: number, managed: boolean): boolean =>
  (httpStatus >= 200 && httpStatus < 300) ||
  (!managed && ((httpStatus >= 300 && httpStatus < 400) || httpStatus === 401 || httpStatus === 403))
