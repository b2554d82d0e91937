import type { AuditLine } from '../api/audit.ts'
import type { HostEvent } from '../api/events.ts'
import { inFull, withDates } from '../parts/time.ts'

/** One line of the activity: an action in the audit, or an event. */
export interface ActivityLine {
  readonly key: string
  readonly kind: 'action' | 'event'
  readonly at: string
  readonly title: string
  readonly host: string | undefined
  readonly planId: string | undefined
  /** Who did it. Undefined for what nobody did. */
  readonly actor: string | undefined
  readonly detail: string
  readonly outcome: AuditLine['outcome'] | undefined
}

/** The lines about a host. A host without a plan has none of the lines that name no plan. */
export const auditAbout = (
  lines: readonly AuditLine[],
  { host, planId }: { readonly host: string; readonly planId?: string | undefined },
): readonly AuditLine[] =>
  lines.filter((line) => line.host === host || (planId !== undefined && line.planId === planId))

/** Both kinds together, newest first. */
export function activityOf(lines: readonly AuditLine[], events: readonly HostEvent[]): readonly ActivityLine[] {
  return [...lines.map(ofAudit), ...events.map(ofEvent)].sort((a, b) => b.at.localeCompare(a.at))
}

const ofAudit = ({ seq, at, action, host, planId, actor, code, outcome }: AuditLine): ActivityLine => ({
  key: `a${seq}`,
  kind: 'action',
  at,
  title: action,
  host,
  planId,
  actor,
  detail: code ?? '',
  outcome,
})

const ofEvent = ({ seq, type, timestamp, data: { host, planId, facts } }: HostEvent): ActivityLine => ({
  key: `e${seq}`,
  kind: 'event',
  at: timestamp,
  title: type,
  host,
  planId,
  actor: typeof facts.actor === 'string' ? facts.actor : undefined,
  detail: detailOf(type, facts),
  outcome: undefined,
})

type Facts = HostEvent['data']['facts']

/** What the facts of an event say, in a few words. */
function detailOf(type: HostEvent['type'], facts: Facts): string {
  const said = (name: string): string => (typeof facts[name] === 'string' ? facts[name] : '')
  switch (type) {
    case 'host.badge':
      return `${said('before')} → ${said('badge')}`
    case 'host.alert':
    case 'host.alert_ended':
      return said('badge')
    case 'host.muted':
      return [said('until') && `until ${inFull(said('until'))}`, said('note')].filter(Boolean).join(', ')
    default:
      if (type.startsWith('certificate.') && said('notAfter')) return `valid until ${inFull(said('notAfter'))}`
      return withDates(said('reason') || said('code'))
  }
}

export interface ActivityFilter {
  readonly kind: string
  readonly outcome: string
  readonly search: string
}

const FILTERS = ['search', 'kind', 'outcome'] as const
export const KINDS = { action: 'Actions of people', event: 'Events of hosts' }
export const OUTCOMES = {
  ok: 'Done',
  refused: 'Refused',
  failed: 'Failed',
  rolled_back: 'Rolled back',
  blocked: 'Blocked',
}
/** A value that the address could not have from this page counts as none. */
const known = (value: string | null, words: object): string =>
  value !== null && Object.hasOwn(words, value) ? value : ''

/** The filter as it stands in the address. */
export const activityAddress = {
  read: (query: URLSearchParams): ActivityFilter => ({
    search: query.get('search') ?? '',
    kind: known(query.get('kind'), KINDS),
    outcome: known(query.get('outcome'), OUTCOMES),
  }),
  write: (filter: ActivityFilter): string => {
    const said = new URLSearchParams(FILTERS.flatMap((name) => (filter[name] ? [[name, filter[name]]] : [])))
    return said.size === 0 ? '' : `?${said}`
  },
}

export function matchingActivity(lines: readonly ActivityLine[], filter: ActivityFilter): readonly ActivityLine[] {
  const wanted = filter.search.trim().toLowerCase()
  return lines.filter(
    ({ kind, outcome, title, host, actor, planId, detail }) =>
      (filter.kind === '' || kind === filter.kind) &&
      (filter.outcome === '' || outcome === filter.outcome) &&
      (wanted === '' || [title, host, actor, planId, detail].some((text) => text?.toLowerCase().includes(wanted))),
  )
}
