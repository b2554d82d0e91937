import { type AuthorityPause, type LedgerLine, nameSet } from '../../model/ledger.ts'
import { isPaused, pauseAfter } from '../../primitives/retry.ts'
import { type BudgetVerdict, type LimitLeft, LONGEST_PAUSE_MS, type OrderRequest } from '../contract.ts'

/** The limits of an authority. A missing limit does not apply. */
export interface AcmeLimits {
  readonly ordersPerAccount?: Limit | undefined
  readonly certificatesPerDomain?: Limit | undefined
  readonly certificatesPerNames?: Limit | undefined
  readonly failuresPerName?: Limit | undefined
  /** Whether renewals are exempt: from all limits for an order that names the certificate it replaces (RFC 9773), from the first two for an order of the same names. */
  readonly renewalsExempt: boolean
}

export interface Backoff {
  readonly firstSeconds: number
  readonly longestSeconds: number
}

export interface BudgetRules {
  readonly limits: AcmeLimits
  readonly backoff: Backoff
  /** The registered domain by which the authority counts. */
  readonly domainOf: (name: string) => string
}

/** The lines of one authority in the order in which they were added, none of them later than now. They must include all lines of the same names. */
export interface Ledger {
  readonly lines: readonly LedgerLine[]
  readonly pause: AuthorityPause
}

/** An older unfinished order is not resumed, so it never becomes a certificate. */
export const RESUMABLE_MS = 24 * 3_600_000

/** Older failures do not count. Must be longer than the longest pause between two attempts. */
const MEMORY_MS = 7 * 86_400_000

type LimitName = LimitLeft['limit']
const WORDS: Record<LimitName, (subject: string) => string> = {
  ordersPerAccount: () => 'orders of one account',
  certificatesPerDomain: (subject) => `certificates for ${subject}`,
  certificatesPerNames: (subject) => `certificates for exactly ${subject}`,
  failuresPerName: (subject) => `failed validations for ${subject}`,
}

/** Checks the pause that the authority asked for, then the backoff after failures, then the limits. */
export function judgeOrder(request: OrderRequest, rules: BudgetRules, ledger: Ledger, now: number): BudgetVerdict {
  const { limits, backoff } = rules
  const pause = livePause(ledger.pause, now)
  const isExempt = limits.renewalsExempt && request.replaces !== undefined
  const pausedUntil = isExempt ? pause.everything : Math.max(pause.newOrders, pause.everything)
  if (pausedUntil > now) {
    return refused('paused', 'the authority asked for no requests for a while', pausedUntil - now)
  }
  const failures = failuresInARow(request, ledger.lines)
  const restMs = failures.count === 0 ? 0 : failures.lastAt + backoffSeconds(failures.count, backoff) * 1000 - now
  if (restMs > 0) {
    const times = failures.count === 1 ? 'the last attempt' : `the last ${failures.count} attempts`
    return refused('backoff', `${times} for ${request.names.join(', ')} failed`, restMs)
  }
  const left = isExempt || request.resumes ? [] : limitsFor(request, rules, ledger.lines, now)
  const worst = left.toSorted((a, b) => b.waitMs - a.waitMs)[0]
  if (worst && worst.waitMs > 0) {
    const { limit, subject, count, perSeconds } = worst
    const allowance = `the limit of ${count} ${WORDS[limit](subject)} in ${durationText(perSeconds)} is reached`
    return refused('limit', allowance, worst.waitMs)
  }
  return { kind: 'free', failures: failures.count, limits: left.map(({ waitMs: _, ...each }) => each) }
}

/** Without a pause that a clock noted which was ahead. The authority repeats what it wants at the next request. */
export function livePause({ newOrders, everything }: AuthorityPause, now: number): AuthorityPause {
  const live = (until: number) => (isPaused(until, LONGEST_PAUSE_MS, now) ? until : 0)
  return { newOrders: live(newOrders), everything: live(everything) }
}

/** No pause that is told now ends later. */
export const latestPause = (now: number): number => now + LONGEST_PAUSE_MS

/** The pause after this number of consecutive failures. It doubles each time, up to the maximum. */
export const backoffSeconds = (failures: number, { firstSeconds, longestSeconds }: Backoff): number =>
  pauseAfter(failures, { firstMs: firstSeconds * 1000, factor: 2, longestMs: longestSeconds * 1000 }) / 1000

/** The oldest time from which lines are needed. */
export function ledgerSince({ limits }: BudgetRules, now: number): number {
  const periods = limitsOf(limits).map(({ perSeconds }) => 2 * perSeconds * 1000)
  return now - Math.max(MEMORY_MS, ...periods)
}

/** Without limits only the lines of the same names count. */
export const hasLimits = ({ limits }: BudgetRules): boolean => limitsOf(limits).length > 0

const limitsOf = (limits: AcmeLimits): Limit[] =>
  [limits.ordersPerAccount, limits.certificatesPerDomain, limits.certificatesPerNames, limits.failuresPerName].filter(
    (limit) => limit !== undefined,
  )

function failuresInARow({ names }: OrderRequest, lines: readonly LedgerLine[]): { count: number; lastAt: number } {
  const set = nameSet(names)
  const own = lines.filter((line) => line.names === set)
  const failed = own
    .slice(own.findLastIndex(({ kind }) => kind === 'issued') + 1)
    .filter(({ kind }) => kind === 'failed')
  return { count: failed.length, lastAt: Math.max(0, ...failed.map(({ at }) => at)) }
}

interface Counted extends LimitLeft {
  readonly waitMs: number
}

function limitsFor(request: OrderRequest, rules: BudgetRules, lines: readonly LedgerLine[], now: number): Counted[] {
  const { limits, domainOf } = rules
  const set = nameSet(request.names)
  const count = (limit: LimitName, subject: string, spent: readonly LedgerLine[]): Counted[] => {
    const allowed = limits[limit]
    if (!allowed) return []
    const bucket = bucketOf(
      allowed,
      spent.map(({ at }) => at),
      now,
    )
    return [{ limit, subject, ...allowed, ...bucket }]
  }
  // An unfinished order of the same names is resumed, or never becomes a certificate.
  const certificates = certificatesIn(lines, now).filter(({ kind, names }) => kind === 'issued' || names !== set)
  const unproven = lines.filter(({ kind }) => kind === 'failed')
  const isRenewal = limits.renewalsExempt && lines.some(({ names, kind }) => names === set && kind === 'issued')
  const domains = [...new Set(request.names.map((name) => domainOf(bare(name))))]
  const isOf = (domain: string) => (line: LedgerLine) =>
    line.names.split(',').some((name) => domainOf(bare(name)) === domain)
  const forNew = [
    ...count(
      'ordersPerAccount',
      '',
      lines.filter(({ kind }) => kind === 'ordered'),
    ),
    ...domains.flatMap((domain) => count('certificatesPerDomain', domain, certificates.filter(isOf(domain)))),
  ]
  return [
    ...(isRenewal ? [] : forNew),
    ...count(
      'certificatesPerNames',
      request.names.join(', '),
      certificates.filter(({ names }) => names === set),
    ),
    ...[...new Set(request.names.map(bare))].flatMap((name) =>
      count(
        'failuresPerName',
        name,
        unproven.filter((line) => line.unproven.includes(name)),
      ),
    ),
  ]
}

/** Issued certificates, and orders under way: the newest line of their names is `ordered`. */
function certificatesIn(lines: readonly LedgerLine[], now: number): LedgerLine[] {
  const newest = new Map(lines.map((line) => [line.names, line]))
  const isUnderWay = (line: LedgerLine) =>
    line.kind === 'ordered' && line.at > now - RESUMABLE_MS && newest.get(line.names) === line
  return lines.filter((line) => line.kind === 'issued' || isUnderWay(line))
}

const bare = (name: string): string => name.replace(/^\*\./, '')

const refused = (reason: 'paused' | 'backoff' | 'limit', because: string, ms: number): BudgetVerdict => ({
  kind: 'refused',
  reason,
  because,
  retryAfter: Math.max(1, Math.ceil(ms / 1000)),
})

const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** In the largest unit that gives a whole number. */
function durationText(seconds: number): string {
  const [size, unit] = UNITS.find(([each]) => seconds % each === 0) ?? UNITS[3]
  const amount = seconds / size
  return amount === 1 ? `1 ${unit}` : `${amount} ${unit}s`
}

/** A token bucket, as Let's Encrypt uses: `count` at once, and each is refilled after its share of the period. */
export interface Limit {
  readonly count: number
  readonly perSeconds: number
}

export interface Bucket {
  /** How many are allowed now. */
  readonly left: number
  /** The time until the next one is allowed. */
  readonly waitMs: number
}

/**
 * What is left after spending at these times within the last two periods. Earlier spending is not known, so the bucket is
 * assumed to be empty before: it is never fuller here than at the authority.
 */
export function bucketOf({ count, perSeconds }: Limit, spentAt: readonly number[], now: number): Bucket {
  const period = perSeconds * 1000
  const share = period / count
  let fullAgainAt = now - period
  for (const at of spentAt.map((time) => Math.min(time, now)).sort((a, b) => a - b)) {
    fullAgainAt = Math.min(Math.max(fullAgainAt, at) + share, at + period)
  }
  const missing = Math.max(0, fullAgainAt - now) / share
  return {
    left: Math.max(0, Math.floor(count - missing + 1e-9)),
    waitMs: Math.max(0, Math.ceil(fullAgainAt + share - period - now)),
  }
}
