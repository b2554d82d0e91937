import type { Screen, Tone } from '../../terminal/screen.ts'
import { type Column, hanging, moment, pairs, span, spanLeft, table, until } from '../../terminal/text.ts'
import { unknownLines } from './drift.ts'

export interface HostView {
  readonly host: string
  readonly badge: string
  readonly server: string | null
  readonly managed: boolean
  readonly since: string | null
  readonly latencyMs: number | null
  readonly uptime24h: number | null
  readonly certificate: { readonly notAfter: string; readonly level: string } | null
  readonly expiresAt: string | null
  readonly planId?: string | undefined
  readonly blocked?: boolean | undefined
  readonly owner?: string | undefined
  readonly note?: string | undefined
  readonly maintenance?: boolean | undefined
  readonly muted?: MuteView | undefined
}

interface MuteView {
  readonly until: string | null
  readonly by: string
  readonly note?: string | undefined
}

export interface HostsView {
  readonly hosts: readonly HostView[]
  readonly total: number
  readonly matched: number
  readonly counts: Readonly<Record<string, number>>
  readonly at: string
  readonly patterns?: readonly PatternView[] | undefined
  /** Only callers inside see them. */
  readonly edges?: readonly EdgeView[] | undefined
}

interface EdgeView {
  readonly server: string
  readonly unknown: number
  readonly outOfStep: { readonly cause: string; readonly detail: string } | null
}

interface PatternView {
  readonly name: string
  readonly kind: string
  readonly configPath: string
  readonly line: number
}

export function statusLines(body: HostsView, screen: Screen): string[] {
  const { hosts, matched } = body
  if (matched === 0)
    return [body.total === 0 ? 'The edge serves no host yet.' : 'No host matches.', ...totals(body, screen.columns)]
  const more =
    matched > hosts.length
      ? hanging(
          '',
          0,
          `… and ${matched - hosts.length} more. Use --search to filter or --limit to show more.`,
          screen.columns,
        )
      : []
  return [
    ...table(columnsAt(Date.parse(body.at), screen), hosts, screen.columns),
    ...more,
    '',
    ...totals(body, screen.columns),
    ...patternLines(body.patterns ?? [], screen.columns),
    ...(body.edges ?? []).flatMap(({ server, unknown, outOfStep }) => [
      ...unknownLines(server, unknown),
      // A person has to act, and hosts look well until then.
      ...(outOfStep?.cause === 'restored' ? hanging('', 0, outOfStep.detail, screen.columns) : []),
    ]),
  ]
}

/** Names that stand for many hosts are not checked. */
function patternLines(patterns: readonly PatternView[], columns: number): string[] {
  if (patterns.length === 0) return []
  const lines = patterns.flatMap(({ name, kind, configPath, line }) =>
    hanging(`  ${kind}  `, kind.length + 4, `${name} (${configPath}:${line})`, columns),
  )
  return ['', 'Names for many hosts, not checked:', ...lines]
}

function columnsAt(now: number, screen: Screen): Column<HostView>[] {
  return [
    { title: 'HOST', text: ({ host }) => host, flexible: true },
    {
      title: 'STATE',
      text: stateText,
      paint: (padded, host) => screen.paint(host.muted && !host.blocked ? 'dim' : stateTone(host), padded),
    },
    {
      title: 'FOR',
      text: ({ since }) => (since === null ? '-' : span(now - Date.parse(since))),
      align: 'right',
      drop: 1,
    },
    { title: 'SERVER', text: ({ server }) => server ?? '-', drop: 4 },
    {
      title: 'ANSWER',
      text: ({ latencyMs }) => (latencyMs === null ? '-' : `${latencyMs} ms`),
      align: 'right',
      drop: 6,
    },
    { title: 'UP 24H', text: ({ uptime24h }) => share(uptime24h), align: 'right', drop: 5 },
    { title: 'CERT', text: ({ certificate }) => untilEnd(certificate?.notAfter ?? null, now), align: 'right', drop: 3 },
    { title: 'EXPIRES', text: ({ expiresAt }) => untilEnd(expiresAt, now), align: 'right', drop: 2 },
    ...(screen.isWide
      ? ([
          { title: 'OWNER', text: ({ owner }) => owner ?? '-' },
          { title: 'PLAN', text: ({ planId }) => planId ?? '-' },
          { title: 'NOTE', text: ({ note }) => note ?? '-' },
        ] satisfies Column<HostView>[])
      : []),
  ]
}

/** `RUNNING`, `RUNNING (maintenance)`, `DOWN (blocked, muted)`, `RUNNING (not managed)`: of nginx's own configuration, or released. */
function stateText({ badge, managed, blocked, maintenance, muted }: HostView): string {
  const notes = [
    ...(managed ? [] : ['not managed']),
    ...(blocked ? ['blocked'] : []),
    ...(maintenance ? ['maintenance'] : []),
    ...(muted ? ['muted'] : []),
  ]
  return notes.length === 0 ? badge : `${badge} (${notes.join(', ')})`
}

/** Rounded down, so that 100% means no failed check. */
const share = (part: number | null): string => (part === null ? '-' : `${Math.floor(part * 1000) / 10}%`)

const untilEnd = (iso: string | null, now: number): string => (iso === null ? '-' : spanLeft(Date.parse(iso) - now))

function totals({ total, counts }: HostsView, columns: number): string[] {
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  const summary = parts.map(([badge, count]) => `${count} ${badge}`).join(', ')
  return hanging('', 0, `${total} ${total === 1 ? 'host' : 'hosts'}${summary ? `: ${summary}` : ''}`, columns)
}

export interface HealthView extends HostView {
  readonly lastCheck: {
    readonly at: string
    readonly ok: boolean
    readonly httpStatus: number | null
    readonly latencyMs: number | null
    readonly reason: string | null
  } | null
  readonly configPath: string | null
}

export function healthLines(health: HealthView, screen: Screen, now: number): string[] {
  const { host, blocked, lastCheck, certificate, expiresAt, planId, owner, note, maintenance, muted } = health
  return [
    `${screen.paint('strong', host)}  ${screen.paint(stateTone(health), health.badge)}`,
    ...pairs(
      [
        ['last check', lastCheck === null ? 'none yet' : checkText(lastCheck)],
        ...(blocked
          ? ([['blocked', `its last run could not be undone; drawbridge diagnose ${host} tells what to do`]] as const)
          : []),
        ['server', health.server ?? 'unknown'],
        ['managed', health.managed ? `yes${planId === undefined ? '' : `, by ${planId}`}` : 'no'],
        ['file', health.configPath ?? 'none'],
        ...(certificate ? ([['certificate', `valid until ${until(certificate.notAfter, now)}`]] as const) : []),
        ...(expiresAt === null ? [] : ([['expires', until(expiresAt, now)]] as const)),
        ...(owner === undefined ? [] : ([['owner', owner]] as const)),
        ...(note === undefined ? [] : ([['note', note]] as const)),
        ...(maintenance ? ([['maintenance', 'visitors get the maintenance page']] as const) : []),
        ...(muted ? ([['muted', muteText(muted, now)]] as const) : []),
      ],
      screen.columns,
    ),
  ]
}

function muteText({ until: end, by, note }: MuteView, now: number): string {
  const why = note === undefined ? '' : `: ${note}`
  return `${end === null ? 'without end' : `until ${until(end, now)}`}, by ${by}${why}`
}

function checkText({ at, httpStatus, latencyMs, reason }: NonNullable<HealthView['lastCheck']>): string {
  const answer = httpStatus === null ? `no answer (${reason ?? 'unknown'})` : `HTTP ${httpStatus}`
  return `${answer}${latencyMs === null ? '' : ` in ${latencyMs} ms`}, ${moment(at)} UTC`
}

type State = Pick<HostView, 'badge' | 'blocked'>

/** Whether visitors and runs can use the host. */
export const isWell = ({ badge, blocked }: State): boolean => badge === 'RUNNING' && !blocked

/** A host that no run can change needs a person before every other one. The service has sorted the rest. */
export const worstFirst = <Row extends State>(hosts: readonly Row[]): Row[] => [
  ...hosts.filter(({ blocked }) => blocked),
  ...hosts.filter(({ blocked }) => !blocked),
]

export const stateTone = ({ badge, blocked }: State): Tone => (blocked ? 'bad' : badgeTone(badge))

function badgeTone(badge: string): Tone {
  if (badge === 'RUNNING') return 'good'
  if (badge === 'PENDING') return 'dim'
  return badge === 'CERT' || badge === 'DRIFT' ? 'careful' : 'bad'
}
