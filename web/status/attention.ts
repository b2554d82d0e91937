import type { HostRow } from '../api/hosts.ts'
import { badgeKind } from '../parts/badge-kind.ts'
import { span } from '../parts/time.ts'

const DAY_MS = 86_400_000

/** Something about a host that a person should know or do, in a few words. */
export interface Attention {
  readonly kind: 'blocked' | 'badge' | 'secondary' | 'certificate' | 'expires'
  readonly words: string
  readonly tone: 'bad' | 'warning'
}

/** An exposure that ends within this time is worth a look. */
const EXPIRES_SOON_MS = DAY_MS

/** Worst first. Empty if nothing needs to be done. */
export function attentionOf(row: HostRow, now: number): readonly Attention[] {
  const { badge, blocked, secondary, certificate, expiresAt } = row
  const found: Attention[] = []
  if (blocked) found.push({ kind: 'blocked', words: 'Blocked', tone: 'bad' })
  if (badge !== 'RUNNING' && badge !== 'PENDING') found.push({ kind: 'badge', words: badge, tone: toneOf(badge) })
  if (secondary === 'missing') found.push({ kind: 'secondary', words: 'Missing on the Secondary', tone: 'warning' })
  if (secondary === 'differs') found.push({ kind: 'secondary', words: 'Differs on the Secondary', tone: 'warning' })
  if (certificate && certificate.level !== 'ok' && badge !== 'CERT')
    found.push({ kind: 'certificate', words: certificateWords(certificate, now), tone: 'warning' })
  if (expiresAt && Date.parse(expiresAt) - now < EXPIRES_SOON_MS)
    found.push({ kind: 'expires', words: `Removed in ${span(Date.parse(expiresAt) - now)}`, tone: 'warning' })
  return found
}

const toneOf = (badge: string): Attention['tone'] =>
  ['down', 'failing', 'dns', 'cert'].includes(badgeKind(badge)) ? 'bad' : 'warning'

/** `12 d`, `expired`. */
export function daysLeft(notAfter: string, now: number): string {
  const left = Date.parse(notAfter) - now
  return left <= 0 ? 'expired' : left < DAY_MS ? span(left) : `${Math.floor(left / DAY_MS)} d`
}

function certificateWords({ notAfter }: NonNullable<HostRow['certificate']>, now: number): string {
  const left = daysLeft(notAfter, now)
  return left === 'expired' ? 'Certificate expired' : `Certificate ends in ${left}`
}

/** Whether the served certificate has other names than this host. */
export const isForOthers = ({ host, certificate }: Pick<HostRow, 'host' | 'certificate'>): boolean =>
  certificate?.names !== undefined &&
  !certificate.names.some((name) => name === host || (name.startsWith('*.') && host.replace(/^[^.]+/, '*') === name))

/** `, issued by Example CA for a.test, b.test`. Empty where it is not known. */
export const issuedBy = ({ issuer, names = [] }: NonNullable<HostRow['certificate']>): string =>
  issuer === undefined ? '' : `, issued by ${issuer} for ${names.join(', ')}`

/** The hosts that the title and the icon of the page count, and the verdict above the list. Muted hosts need no attention. */
export const needAttention = (rows: readonly HostRow[], now: number): readonly HostRow[] =>
  rows.filter((row) => row.muted === undefined && attentionOf(row, now).length > 0)

/** `13 of 25 hosts need attention, 2 muted`. Muted hosts need none. */
export function verdictOf(rows: readonly HostRow[], now: number): string {
  const count = needAttention(rows, now).length
  const muted = rows.filter((row) => row.muted !== undefined).length
  const rest = muted === 0 ? '' : `, ${muted.toLocaleString('en')} muted`
  if (count === 0) {
    if (muted > 0) return `No host of ${rows.length.toLocaleString('en')} needs attention${rest}`
    return rows.length === 1 ? 'The host is well' : `All ${rows.length.toLocaleString('en')} hosts are well`
  }
  const verb = count === 1 ? 'needs' : 'need'
  return `${count.toLocaleString('en')} of ${rows.length.toLocaleString('en')} hosts ${verb} attention${rest}`
}
