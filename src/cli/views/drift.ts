import type { Drift, Hosts } from '../../client/bodies.ts'
import type { DrawbridgeClient } from '../../client/client.ts'
import { Refusal } from '../../client/refusal.ts'
import { UsageError } from '../../terminal/declare.ts'
import type { Screen } from '../../terminal/screen.ts'
import { hanging, pairs, until } from '../../terminal/text.ts'
import { planIdOf } from '../plan-of.ts'

interface Compared extends Omit<Drift, 'differences'> {
  readonly host: string
  readonly differences: readonly Difference[]
  /** Its last run could not be undone, so it cannot be compared. */
  readonly isBlocked?: true
}

/** Compares one host, or with `all` every host that Drawbridge exposes. */
export async function readDrifts(
  api: DrawbridgeClient,
  host: string | undefined,
  all: boolean,
): Promise<readonly Compared[]> {
  const drifts: Compared[] = []
  for (const plan of await comparedPlans(api, host, all))
    try {
      drifts.push({ ...(await api.drift(plan.planId)), host: plan.host })
    } catch (error) {
      if (!all || !isOver(error)) throw error
      if (plan.isBlocked) drifts.push({ ...plan, differences: [] })
    }
  return drifts
}

/** The exposure ended after it was listed. */
const isOver = (error: unknown): boolean => error instanceof Refusal && error.problem.code === 'plan_not_applied'

async function comparedPlans(
  api: DrawbridgeClient,
  host: string | undefined,
  all: boolean,
): Promise<readonly { readonly planId: string; readonly host: string; readonly isBlocked?: true }[]> {
  if (host !== undefined && !all) return [{ planId: await planIdOf(api, host), host }]
  if (host !== undefined || !all) throw new UsageError('Name a host, or pass --all to compare every exposure.')
  // Outside, no row has a plan, and rows may be missing: nothing to compare would look like no difference.
  if ((await api.policy()).caller.network !== 'internal')
    throw new UsageError('Only internal callers see the plans of all hosts. Run the command in the internal network.')
  const { hosts } = await api.allHosts()
  return hosts.flatMap(({ planId, host: name, blocked }) =>
    planId === undefined ? [] : [{ planId, host: name, ...(blocked && { isBlocked: true as const }) }],
  )
}

type StrayOfEdge = Pick<NonNullable<Hosts['edges']>[number], 'server' | 'stray' | 'unknown'>

/** The edges with lines that belong to no host, or with hosts that the store does not know. They differ, and no host of the store does. */
export const readStray = async (api: DrawbridgeClient): Promise<readonly StrayOfEdge[]> =>
  ((await api.hosts({ limit: '1' })).edges ?? [])
    .filter(({ stray, unknown }) => stray.length > 0 || unknown > 0)
    .map(({ server, stray, unknown }) => ({ server, stray, unknown }))

export const strayLines = (edges: readonly StrayOfEdge[]): string[] =>
  edges.flatMap(({ server, stray, unknown }) => [
    ...(stray.length === 0
      ? []
      : [
          `Edge ${server}, lines of no host:`,
          ...stray.map(({ file, lines }) => `  ${file}: ${lines}`),
          '  They stay when a host is repaired. drawbridge doctor tells how they go.',
        ]),
    ...unknownLines(server, unknown),
  ])

/** Hosts that an edge serves and the store does not know: after a restore of an older backup, or of another installation. */
export const unknownLines = (server: string, unknown: number): string[] =>
  unknown > 0
    ? [
        `Edge ${server} serves ${unknown === 1 ? '1 host' : `${unknown} hosts`} that the store does not know. Nothing changes them.`,
        '  To list them: drawbridge edge converge --config FILE',
        '  To manage them, with the service stopped: drawbridge rebuild --from-world --config FILE',
        '  To remove one, manage it first, then run drawbridge down HOST.',
      ]
    : []

/** Every difference as a sentence with its place below it, or one sentence per host without any. */
export function driftLines(drifts: readonly Compared[], screen: Screen, now: number): string[] {
  if (drifts.length === 0) return ['No host is exposed, so there is nothing to compare.']
  return drifts.flatMap(({ host, differences, isBlocked }) =>
    differences.length === 0
      ? [
          isBlocked
            ? `${host}: blocked, not compared. drawbridge diagnose ${host} tells what to do.`
            : `${host}: no difference.`,
        ]
      : [`${host}:`, ...differences.flatMap((difference) => differenceLines(difference, screen, now))],
  )
}

/** What leads on from a comparison that found something. `notes`: where the lines are shown that are not shown here. */
export const nextLines = (drifts: readonly Compared[], screen: Screen, notes: readonly string[]): string[] =>
  drifts.flatMap(({ host, differences }) => {
    if (differences.length === 0) return []
    const option = differences.some(({ overwrite }) => overwrite) ? ' --overwrite' : ''
    return pairs(
      [
        ...notes.map((note): [string, string] => ['To see the lines:', note]),
        ['To write it again:', `drawbridge repair ${host}${option}`],
        ['To keep it as it is:', `drawbridge accept ${host}`],
      ],
      screen.columns,
    )
  })

type Difference = Drift['differences'][number] & { readonly lines?: Pick<FieldLines, 'expected' | 'found'> }

interface FieldLines {
  readonly field: string
  readonly expected: readonly string[]
  readonly found: readonly string[]
}

/**
 * What differs of a host on the edges of this machine, line by line. No `fields`: this user may not read them. `faults`: why a
 * configuration of this machine could not be read.
 */
export type LinesHere = (
  host: string,
  file: string | undefined,
) => Promise<{
  readonly edges: readonly { readonly server: string; readonly fields: readonly FieldLines[] | undefined }[]
  readonly faults: readonly string[]
}>

/** Adds the lines to what edges of this machine found. The service never tells them. */
export async function withLines(
  drifts: readonly Compared[],
  api: DrawbridgeClient,
  linesHere: LinesHere,
  file: string | undefined,
): Promise<{ readonly drifts: readonly Compared[]; readonly notes: readonly string[] }> {
  const [drift] = drifts
  if (!drift?.differences.some(isOnEdge)) return { drifts, notes: [] }
  const { primary } = (await api.policy()).servers
  const { edges, faults } = await linesHere(drift.host, file)
  const edgeOf = ({ server = primary }: Difference) => edges.find((edge) => edge.server === server)
  const differences = drift.differences.map((difference) => {
    const lines = isOnEdge(difference) && edgeOf(difference)?.fields?.filter(({ field }) => field === difference.field)
    if (!lines || lines.length === 0) return difference
    const [expected, found] = [lines.flatMap((one) => one.expected), lines.flatMap((one) => one.found)]
    return { ...difference, lines: { expected, found } }
  })
  const elsewhere = differences.filter((difference) => isOnEdge(difference) && !edgeOf(difference)?.fields)
  const servers = new Set(elsewhere.map(({ server = primary }) => server))
  const notes = [...servers].map(
    (server) =>
      `drawbridge diff ${drift.host}, on the machine of edge ${server}, as root or the owner of its folder` +
      (faults.length > 0 ? ` (${faults.join(' ')})` : ''),
  )
  return { drifts: [{ ...drift, differences }], notes }
}

/** Only what an edge found has a file. */
const isOnEdge = ({ file }: Difference): boolean => file !== undefined

function differenceLines(difference: Difference, screen: Screen, now: number): string[] {
  const { file, line, server, overwrite, since, lines, alsoTouches = [], alsoTouchesMore = 0 } = difference
  const place = file === undefined ? [] : [`${file}${line === undefined ? '' : `:${line}`}`]
  const others = alsoTouchesMore > 0 ? [...alsoTouches, `${alsoTouchesMore} more`] : alsoTouches
  const notes = [
    ...place.map((text) => `${text}${server === undefined ? '' : ` on edge ${server}`}`),
    ...(since === undefined ? [] : [`written ${until(since, now)}`]),
    ...(others.length > 0 ? [`also touches ${others.join(', ')}`] : []),
  ]
  return [
    ...hanging(
      '  ',
      4,
      `${differenceInWords(difference)}${overwrite ? ' (changed outside Drawbridge)' : ''}`,
      screen.columns,
    ),
    ...notes.flatMap((note) => hanging('    ', 4, note, screen.columns)),
    // Whole, so that they can be compared with the file.
    ...(lines?.expected ?? []).map((text) => `    - ${text}`),
    ...(lines?.found ?? []).map((text) => `    + ${text}`),
  ]
}

function differenceInWords({ part, field, expected, found }: Difference): string {
  const [name = '', type = ''] = part === 'record' ? field.split(' ') : []
  const what =
    part === 'record' ? `${type} record of ${name}` : part === 'mark' ? 'owner mark' : (NAMES[field] ?? field)
  const isTold = expected !== 'as applied' && expected !== 'none' && part !== 'mark' && field !== 'entry'
  if (found === 'missing') return `${what}: ${isTold ? `${expected} ` : ''}is missing`
  return `${what}: ${isTold ? `${expected} → ${afterSame(expected, found)}` : found}`
}

const NAMES: Readonly<Record<string, string>> = {
  served: 'certificate that the Primary shows',
  block: 'server block',
  record: 'record of the entry',
  owner: 'owner of the file',
}

/** Of two addresses that differ in their ports only the second port: `:3999`. */
function afterSame(expected: string, found: string): string {
  const [, port] = /^.*[^:](:\d+)$/.exec(found) ?? []
  return port !== undefined && expected.startsWith(`${found.slice(0, -port.length)}:`) ? port : found
}

/** What an accept leaves, writes and ends, for the person who confirms it. */
export const acceptanceLines = (host: string, screen: Screen): string[] =>
  [
    `${host} stays on the air. Its DNS records and what it serves are not changed.`,
    `Its owner mark, the TXT record of _drawbridge.${host}, is removed.`,
    'Its entry is written once to a file outside the folder of Drawbridge. The path is printed at the end.',
    'Drawbridge no longer manages the host: nobody renews its certificate or removes it when it expires.',
  ].flatMap((line) => hanging('  - ', 4, line, screen.columns))
