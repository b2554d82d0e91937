import type { AuditLine } from '../api/audit.ts'
import type { HostEvent } from '../api/events.ts'
import { inFull } from '../parts/time.ts'
import { ofAudit, ofEvent, type Sentence } from './sentences.ts'

/** One line of the activity: an action in the audit, or an event. */
export interface ActivityLine extends Sentence {
  readonly key: string
  readonly kind: 'action' | 'event'
  /** The same of several hosts. Undefined for an action. */
  readonly several: Pick<Sentence, 'before' | 'after'> | undefined
  readonly at: string
  /** As the API names it. */
  readonly title: string
  readonly host: string | undefined
  readonly planId: string | undefined
  /** Who did it. Undefined for what nobody did. */
  readonly actor: string | undefined
  readonly detail: string
  readonly outcome: AuditLine['outcome'] | undefined
}

/** Lines of one second, all about one host or all saying the same of several. The heaviest one stands for all. */
export interface Burst {
  readonly head: ActivityLine
  /** All of them, newest first. */
  readonly lines: readonly ActivityLine[]
  /** The number of hosts of which the same is said. */
  readonly hosts: number
}

/** The lines about a host. A host without a plan has none of the lines that name no plan. */
export const auditAbout = (
  lines: readonly AuditLine[],
  { host, planId }: { readonly host: string; readonly planId?: string | undefined },
): readonly AuditLine[] =>
  lines.filter((line) => line.host === host || (planId !== undefined && line.planId === planId))

/** Both kinds together, newest first. A line that names only a plan gets the host of the plan. */
export function activityOf(lines: readonly AuditLine[], events: readonly HostEvent[]): readonly ActivityLine[] {
  const all = [...lines.map(lineOfAudit), ...events.map(lineOfEvent)]
  const hosts = new Map(all.flatMap(({ planId, host }) => (planId && host ? [[planId, host] as const] : [])))
  return all
    .map((line) => (line.host || !line.planId ? line : { ...line, host: hosts.get(line.planId) }))
    .sort((a, b) => b.at.localeCompare(a.at))
}

const lineOfAudit = (line: AuditLine): ActivityLine => ({
  ...ofAudit(line),
  key: `a${line.seq}`,
  kind: 'action',
  several: undefined,
  at: line.at,
  title: line.action,
  host: line.host,
  planId: line.planId,
  actor: line.actor,
  detail: line.code ?? '',
  outcome: line.outcome,
})

const lineOfEvent = ({ seq, type, timestamp, data: { host, planId, facts } }: HostEvent): ActivityLine => ({
  ...ofEvent(type, facts),
  key: `e${seq}`,
  kind: 'event',
  several: ofEvent(type, facts, true),
  at: timestamp,
  title: type,
  host,
  planId,
  actor: typeof facts.actor === 'string' ? facts.actor : undefined,
  detail: type === 'host.badge' ? `${facts.before} → ${facts.badge}` : typeof facts.code === 'string' ? facts.code : '',
  outcome: undefined,
})

const SECOND_MS = 1_000

/** `lines`: newest first. */
export function burstsOf(lines: readonly ActivityLine[]): readonly Burst[] {
  const bursts: ActivityLine[][] = []
  for (const line of lines) {
    const last = bursts.at(-1)
    const before = last?.at(-1)
    const belongs = before && last && (isAbout(line.host, last) || saysTheSame(line, last))
    if (belongs && line.host && Date.parse(before.at) - Date.parse(line.at) <= SECOND_MS) last.push(line)
    else bursts.push([line])
  }
  return bursts.map((burst) => {
    const head = burst.reduce((heaviest, line) => (line.weight > heaviest.weight ? line : heaviest))
    return { head, lines: burst, hosts: new Set(burst.map(({ host }) => host)).size }
  })
}

const isAbout = (host: string | undefined, burst: readonly ActivityLine[]): boolean =>
  burst.every((line) => line.host === host)

/** Several hosts that turn at once are one burst, unless it began as the story of one host. */
const saysTheSame = ({ kind, title, before, after }: ActivityLine, burst: readonly ActivityLine[]): boolean =>
  kind === 'event' && burst.every((line) => line.title === title && line.before === before && line.after === after)

/** What the API says of a line, for a machine or a log. */
export const rawOf = ({ title, detail, actor, planId, at }: ActivityLine): string =>
  [title, detail, actor && `by ${actor}`, planId, inFull(at)].filter(Boolean).join(' · ')

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
    ({ kind, outcome, title, before, host, after, actor, planId, detail }) =>
      (filter.kind === '' || kind === filter.kind) &&
      (filter.outcome === '' || outcome === filter.outcome) &&
      (wanted === '' ||
        [title, `${before}${host ?? ''}${after}`, actor, planId, detail].some((text) =>
          text?.toLowerCase().includes(wanted),
        )),
  )
}
