import type { ExposureOptions } from '../../client/bodies.ts'
import { changedWords, optionWords } from '../../model/options/words.ts'
import type { Screen, Tone } from '../../terminal/screen.ts'
import { type Column, hanging, moment, shortMoment, spanLeft, table, until } from '../../terminal/text.ts'

export interface CheckView {
  readonly name: string
  readonly status: string
  readonly detail: string
}

interface ChangeView {
  readonly kind: string
  readonly action: string
  readonly [member: string]: unknown
}

export interface PlanView {
  readonly planId: string
  readonly state: string
  readonly host: string
  readonly url: string
  readonly checks: readonly CheckView[]
  readonly changes: readonly ChangeView[]
  /** Empty or missing for plans of version 0.1. */
  readonly steps?: readonly string[] | undefined
  readonly request: RequestView
  readonly expiresAt: string
  readonly createdBy?: string | undefined
  readonly network?: string | undefined
}

/** Who made a plan. The service tells it to callers inside. */
const makerText = ({ createdBy, network }: Pick<PlanView, 'createdBy' | 'network'>): string =>
  createdBy === undefined ? '-' : network === 'public' ? `${createdBy} (public)` : createdBy

interface RequestView {
  readonly server: string
  readonly port: number
  readonly health: string
  readonly tls: boolean
  readonly expiresIn?: number | undefined
  readonly owner?: string | undefined
  readonly note?: string | undefined
  readonly options?: ExposureOptions | undefined
}

/** The exposure that a plan replaces, as it is now. */
export interface FormerView {
  readonly planId: string
  readonly request: RequestView
  /** When it expires. Null: never. Undefined: unknown. */
  readonly expiresAt: string | null | undefined
}

/** The checks of a plan, and the changes that an apply would make, beside the exposure that the plan replaces. */
export function planLines(plan: PlanView, screen: Screen, now: number, former?: FormerView): string[] {
  const { expiresIn: lifetime, owner, note } = plan.request
  return [
    `${screen.paint('strong', plan.host)} (${plan.planId}, ${plan.state})`,
    '',
    'Checks',
    ...checkLines(plan.checks, screen),
    '',
    'Changes on apply',
    ...plan.changes.flatMap((change) => {
      const [verb, text] = changeText(change)
      return hanging(`  ${verb.padEnd(12)}`, 14, text, screen.columns)
    }),
    ...(plan.request.options && !former ? ['', 'Options', ...optionLines(plan.request.options, screen)] : []),
    ...(former ? ['', `Replaces ${former.planId}`, ...beforeAndAfter(former, plan.request, screen, now)] : []),
    '',
    ...(plan.steps?.length ? hanging('Steps: ', 7, plan.steps.join(' → '), screen.columns) : []),
    `URL: ${plan.url}`,
    ...(owner === undefined ? [] : hanging('Owner: ', 7, owner, screen.columns)),
    ...(note === undefined ? [] : hanging('Note: ', 6, note, screen.columns)),
    ...(plan.createdBy === undefined ? [] : [`Made by: ${makerText(plan)}`]),
    ...(lifetime === undefined ? [] : [`The exposure expires ${spanLeft(lifetime * 1000)} after the apply.`]),
    ...(plan.state === 'planned' || plan.state === 'rolled_back'
      ? hanging('', 0, `The plan can be applied until ${until(plan.expiresAt, now)}.`, screen.columns)
      : []),
  ]
}

function beforeAndAfter({ request, expiresAt }: FormerView, after: RequestView, screen: Screen, now: number): string[] {
  const end = expiresAt === null ? 'never' : expiresAt === undefined ? 'unknown' : until(expiresAt, now)
  const newEnd = after.expiresIn === undefined ? 'never' : `${spanLeft(after.expiresIn * 1000)} after the apply`
  const rows: readonly (readonly [name: string, before: string, after: string])[] = [
    ['server', request.server, after.server],
    ['port', String(request.port), String(after.port)],
    ['health', request.health, after.health],
    ['https', yesOrNo(request.tls), yesOrNo(after.tls)],
    ['expires', end, newEnd],
    ...(request.owner === after.owner ? [] : [['owner', request.owner ?? 'none', after.owner ?? 'none'] as const]),
    ...(request.note === after.note ? [] : [['note', request.note ?? 'none', after.note ?? 'none'] as const]),
    ...changedWords(optionWords(request.options), optionWords(after.options)).map(
      ({ field, from, to }) => [field, from, to] as const,
    ),
  ]
  return rows.flatMap(([name, old, next]) => {
    const text = old === next ? `${old} (unchanged)` : `${old} → ${next}`
    return hanging(`  ${screen.paint(old === next ? 'dim' : 'strong', name.padEnd(12))}`, 14, text, screen.columns)
  })
}

const optionLines = (options: ExposureOptions, screen: Screen): string[] =>
  [...optionWords(options)].flatMap(([name, value]) =>
    hanging(`  ${name.padEnd(OPTION_WIDTH - 2)}`, OPTION_WIDTH, value, screen.columns),
  )

const OPTION_WIDTH = 26

const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no')

const STATUS: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  passed: ['passed', 'good'],
  warning: ['warning', 'careful'],
  not_required: ['not needed', 'dim'],
  failed: ['FAILED', 'bad'],
}

export const checkLines = (checks: readonly CheckView[], screen: Screen): string[] =>
  checks.flatMap(({ name, status, detail }) => {
    const [word, tone] = STATUS[status] ?? [status, 'dim']
    const head = `  ${name.padEnd(12)}${screen.paint(tone, word.padEnd(11))}`
    return hanging(head, 25, detail, screen.columns)
  })

/** A change as a verb and its object. */
function changeText(change: ChangeView): [verb: string, text: string] {
  const { kind, action } = change
  const member = (name: string): string => String(change[name] ?? '')
  if (kind === 'certificate') {
    const names = Array.isArray(change.names) ? change.names.join(', ') : ''
    return action === 'reuse'
      ? ['use', `the certificate for ${names}, valid until ${member('notAfter').slice(0, 10)}`]
      : ['order', `a certificate for ${names}`]
  }
  if (kind === 'proxy' && action === 'adopt')
    return ['adopt', `${member('serverName')}${targetText(', served from', change)}`]
  if (kind === 'dns' && action === 'keep') return ['keep', `${member('name')} ${member('type')} ${member('value')}`]
  if (kind === 'proxy') return ['serve', `${member('serverName')}${targetText(' from', change)}`]
  if (kind === 'dns') return ['publish', `${member('name')} ${member('type')} ${member('value')}`]
  return [action, kind]
}

/** Callers outside are not told the address of a backend. */
const targetText = (words: string, { target }: ChangeView): string => (target === undefined ? '' : `${words} ${target}`)

/** The runs of a plan, oldest first: what was done, when, and how it ended. */
export function runLines(runs: readonly RunView[], screen: Screen): string[] {
  if (runs.length === 0) return []
  const lines = runs.flatMap(({ action, state, startedAt, actor }) =>
    hanging(
      `  ${action.padEnd(12)}`,
      14,
      `${state}, ${moment(startedAt)} UTC${actor === undefined ? '' : `, by ${actor}`}`,
      screen.columns,
    ),
  )
  return ['', 'Runs', ...lines]
}

interface RunView {
  readonly action: string
  readonly state: string
  readonly startedAt: string
  readonly actor?: string | undefined
}

export interface PlanPageView {
  readonly plans: readonly {
    readonly planId: string
    readonly state: string
    readonly host: string
    readonly createdAt: string
    readonly createdBy?: string | undefined
    readonly network?: string | undefined
    readonly request?: Pick<RequestView, 'owner' | 'note'> | undefined
  }[]
  readonly nextCursor: string | null
}

const TONES: Readonly<Record<string, Tone>> = { applied: 'good', blocked: 'bad', rolled_back: 'careful' }

export function plansLines({ plans, nextCursor }: PlanPageView, screen: Screen): string[] {
  if (plans.length === 0) return ['There are no plans yet.']
  const rows = table(
    [
      { title: 'HOST', text: ({ host }) => host, flexible: true },
      {
        title: 'STATE',
        text: ({ state }) => state,
        paint: (padded, { state }) => screen.paint(TONES[state] ?? 'dim', padded),
      },
      {
        title: 'PLANNED (UTC)',
        text: ({ createdAt }) => (screen.isTerminal ? shortMoment(createdAt) : moment(createdAt)),
        drop: 1,
      },
      { title: 'MADE BY', text: ({ createdBy }) => createdBy ?? '-', drop: 2 },
      {
        title: 'NETWORK',
        text: ({ network }) => network ?? '-',
        paint: (padded, { network }) => (network === 'public' ? screen.paint('careful', padded) : padded),
      },
      { title: 'PLAN', text: ({ planId }) => planId },
      ...(screen.isWide
        ? ([
            { title: 'OWNER', text: ({ request }) => request?.owner ?? '-' },
            { title: 'NOTE', text: ({ request }) => request?.note ?? '-' },
          ] satisfies Column<PlanPageView['plans'][number]>[])
        : []),
    ],
    plans,
    screen.columns,
  )
  return nextCursor === null ? rows : [...rows, `More: drawbridge plans --cursor ${nextCursor}`]
}
