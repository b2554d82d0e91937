import type { HostRow } from '../api/hosts.ts'
import { badgeKind } from '../parts/badge-kind.ts'
import { timeLeft } from '../parts/time.ts'

const DAY_MS = 86_400_000

/** What a host can need. A muted host needs nothing else. Worst first. */
const NEEDS = ['blocked', 'down', 'differs', 'certificate', 'ends', 'muted'] as const
export type Need = (typeof NEEDS)[number]

/** An exposure that ends within this time is worth a look. */
const ENDS_SOON_MS = DAY_MS

export function needsOf(row: HostRow, now: number): readonly Need[] {
  if (row.muted) return ['muted']
  const { badge, blocked, secondary, certificate, expiresAt } = row
  const isEndingCertificate = certificate !== null && certificate.level !== 'ok' && !isUnusable(row)
  const found: Record<Need, boolean> = {
    blocked: blocked === true,
    down: isDown(row),
    differs: badge === 'DRIFT' || secondary === 'missing' || secondary === 'differs',
    certificate: isEndingCertificate,
    ends: expiresAt !== null && Date.parse(expiresAt) - now < ENDS_SOON_MS,
    muted: false,
  }
  return NEEDS.filter((need) => found[need])
}

/** Whether a visitor does not get what he came for. A certificate that only ends soon still works. */
export function isDown(row: HostRow): boolean {
  const kind = badgeKind(row.badge)
  if (kind === 'cert') return isUnusable(row) || row.certificate === null || row.certificate.level === 'ok'
  return kind !== 'running' && kind !== 'pending' && kind !== 'drift'
}

const isUnusable = (row: HostRow): boolean => row.certificate?.level === 'expired' || isForOthers(row)

/** One part of the sentence above the list, and the filter that shows its hosts. */
export interface NeedCount {
  readonly need: Need
  readonly count: number
  readonly words: string
}

/** `7 down · 2 differ · 1 ends in 57 min`, in parts. Empty: all hosts are well. */
export function needCounts(rows: readonly HostRow[], now: number): readonly NeedCount[] {
  const hosts = new Map<Need, HostRow[]>()
  for (const row of rows) {
    for (const need of needsOf(row, now)) {
      const found = hosts.get(need)
      if (found) found.push(row)
      else hosts.set(need, [row])
    }
  }
  return NEEDS.flatMap((need) => {
    const found = hosts.get(need) ?? []
    return found.length === 0 ? [] : { need, count: found.length, words: wordsFor(need, found, now) }
  })
}

function wordsFor(need: Need, found: readonly HostRow[], now: number): string {
  const count = found.length.toLocaleString('en')
  const first = (times: readonly string[]) => timeLeft(Date.parse(times.toSorted()[0] ?? '') - now)
  switch (need) {
    case 'differs':
      return found.length === 1 ? '1 differs' : `${count} differ`
    case 'certificate': {
      const soonest = first(found.flatMap(({ certificate }) => certificate?.notAfter ?? []))
      return found.length === 1 ? `1 certificate ends in ${soonest}` : `${count} certificates end, one in ${soonest}`
    }
    case 'ends': {
      const soonest = first(found.flatMap(({ expiresAt }) => expiresAt ?? []))
      return found.length === 1 ? `1 ends in ${soonest}` : `${count} end, one in ${soonest}`
    }
    default:
      return `${count} ${need}`
  }
}

/** The number in the title and the icon of the page: the hosts that are down, or else the first number of the sentence. */
export function alarmCount(rows: readonly HostRow[], now: number): number {
  const counts = needCounts(rows, now).filter(({ need }) => need !== 'muted')
  return (counts.find(({ need }) => need === 'down') ?? counts[0])?.count ?? 0
}

/** What a row says beside its badge. */
export interface Note {
  readonly words: string
  readonly tone: 'bad' | 'warning' | 'calm'
}

export function notesOf({ blocked, secondary, maintenance, muted, managed }: HostRow): readonly Note[] {
  return [
    ...(blocked ? [{ words: 'Blocked', tone: 'bad' } as const] : []),
    ...(secondary === 'missing' || secondary === 'differs'
      ? [{ words: secondaryWords(secondary), tone: 'warning' } as const]
      : []),
    ...(maintenance ? [{ words: 'Maintenance', tone: 'calm' } as const] : []),
    ...(muted ? [{ words: 'Muted', tone: 'calm' } as const] : []),
    ...(managed ? [] : [{ words: 'Unmanaged', tone: 'calm' } as const]),
  ]
}

export const secondaryWords = (secondary: 'missing' | 'differs'): string =>
  secondary === 'missing' ? 'Missing on the Secondary' : 'Differs on the Secondary'

/** `90 d`, `expired`. */
export function daysLeft(notAfter: string, now: number): string {
  const left = Date.parse(notAfter) - now
  return left <= 0 ? 'expired' : timeLeft(left)
}

/** Whether the served certificate has other names than this host. */
export const isForOthers = ({ host, certificate }: Pick<HostRow, 'host' | 'certificate'>): boolean =>
  certificate?.names !== undefined &&
  !certificate.names.some((name) => name === host || (name.startsWith('*.') && host.replace(/^[^.]+/, '*') === name))

/** `, issued by Example CA for a.test, b.test`. Empty where it is not known. */
export const issuedBy = ({ issuer, names = [] }: NonNullable<HostRow['certificate']>): string =>
  issuer === undefined ? '' : `, issued by ${issuer} for ${names.join(', ')}`
