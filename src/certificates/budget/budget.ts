import { type AuthorityPause, type LedgerLine, nameSet } from '../../model/ledger.ts'
import { pauseAfter } from '../../primitives/retry.ts'
import type { BudgetVerdict, LimitLeft, OrderRequest } from '../contract.ts'

/** What an authority allows of each. Where one is left out there is no such limit. */
export interface AcmeLimits {
  readonly ordersPerAccount?: Limit | undefined
  readonly certificatesPerDomain?: Limit | undefined
  readonly certificatesPerNames?: Limit | undefined
  readonly failuresPerName?: Limit | undefined
  /** Whether it lets renewals pass beyond its limits: all of them for an order that names what it replaces (RFC 9773), the first two for the same names again. */
  readonly renewalsExempt: boolean
}

export interface Backoff {
  readonly firstSeconds: number
  readonly longestSeconds: number
}

export interface BudgetRules {
  readonly limits: AcmeLimits
  readonly backoff: Backoff
  /** The part of a name that the authority counts by. */
  readonly domainOf: (name: string) => string
}

/** What is known of one authority: its lines in the order in which they were added, those of the same names at least. */
export interface Ledger {
  readonly lines: readonly LedgerLine[]
  readonly pause: AuthorityPause
}

/** An order that was left for longer is not brought to an end any more, and so becomes no certificate. */
export const RESUMABLE_MS = 24 * 3_600_000

/** Failures that are further back no longer count. Longer than the longest pause between two tries. */
const MEMORY_MS = 7 * 86_400_000

type LimitName = LimitLeft['limit']
const WORDS: Record<LimitName, (subject: string) => string> = {
  ordersPerAccount: () => 'orders of one account',
  certificatesPerDomain: (subject) => `certificates for ${subject}`,
  certificatesPerNames: (subject) => `certificates for exactly ${subject}`,
  failuresPerName: (subject) => `failed proofs for ${subject}`,
}

/** Whether an order may be placed now. First what the authority said, then what went wrong before, then what it allows. */
export function judgeOrder(wish: OrderRequest, rules: BudgetRules, ledger: Ledger, now: number): BudgetVerdict {
  const { limits, backoff } = rules
  const isExempt = limits.renewalsExempt && wish.replaces !== undefined
  const pausedUntil = isExempt ? ledger.pause.everything : Math.max(ledger.pause.newOrders, ledger.pause.everything)
  if (pausedUntil > now) {
    return refused('paused', 'it asked to be left alone for now', pausedUntil - now)
  }
  const failures = failuresInARow(wish, ledger.lines)
  const restMs = failures.count === 0 ? 0 : failures.lastAt + backoffSeconds(failures.count, backoff) * 1000 - now
  if (restMs > 0) {
    const times = failures.count === 1 ? 'the last try' : `${failures.count} tries in a row`
    return refused('backoff', `${times} for ${wish.names.join(', ')} failed`, restMs)
  }
  const left = isExempt || wish.resumes ? [] : limitsFor(wish, rules, ledger.lines, now)
  const worst = left.toSorted((a, b) => b.waitMs - a.waitMs)[0]
  if (worst && worst.waitMs > 0) {
    const { limit, subject, count, perSeconds } = worst
    const allowance = `its ${count} ${WORDS[limit](subject)} in ${durationText(perSeconds)} are spent`
    return refused('limit', allowance, worst.waitMs)
  }
  return { kind: 'free', failures: failures.count, limits: left.map(({ waitMs: _, ...each }) => each) }
}

/** The pause after so many failures in a row: doubled each time, up to the longest. */
export const backoffSeconds = (failures: number, { firstSeconds, longestSeconds }: Backoff): number =>
  pauseAfter(failures, { firstMs: firstSeconds * 1000, factor: 2, longestMs: longestSeconds * 1000 }) / 1000

/** How far back the lines must reach for a verdict. */
export function ledgerSince({ limits }: BudgetRules, now: number): number {
  const periods = limitsOf(limits).map(({ perSeconds }) => 2 * perSeconds * 1000)
  return now - Math.max(MEMORY_MS, ...periods)
}

/** Whether only lines of the same names count. */
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

function limitsFor(wish: OrderRequest, rules: BudgetRules, lines: readonly LedgerLine[], now: number): Counted[] {
  const { limits, domainOf } = rules
  const set = nameSet(wish.names)
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
  // An order of the same names that was left is gone on with, or will never be a certificate.
  const certificates = certificatesIn(lines, now).filter(({ kind, names }) => kind === 'issued' || names !== set)
  const unproven = lines.filter(({ kind }) => kind === 'failed')
  const isRenewal = limits.renewalsExempt && lines.some(({ names, kind }) => names === set && kind === 'issued')
  const domains = [...new Set(wish.names.map((name) => domainOf(bare(name))))]
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
      wish.names.join(', '),
      certificates.filter(({ names }) => names === set),
    ),
    ...[...new Set(wish.names.map(bare))].flatMap((name) =>
      count(
        'failuresPerName',
        name,
        unproven.filter((line) => line.unproven.includes(name)),
      ),
    ),
  ]
}

/** Those that were issued, and those still to come of an order: the newest line of its names. */
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

/** In the largest unit that measures it whole. */
function durationText(seconds: number): string {
  const [size, unit] = UNITS.find(([each]) => seconds % each === 0) ?? UNITS[3]
  const amount = seconds / size
  return amount === 1 ? `1 ${unit}` : `${amount} ${unit}s`
}

/** So many at once; each comes back after its share of the period. A token bucket, as Let's Encrypt counts. */
export interface Limit {
  readonly count: number
  readonly perSeconds: number
}

export interface Bucket {
  /** How many may be had at once now. */
  readonly left: number
  /** Until one may. */
  readonly waitMs: number
}

/**
 * What is left after what was spent at these times, two periods back. What was spent before that is not known, so the
 * bucket is taken for empty then: it is never fuller here than it is at the authority.
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
