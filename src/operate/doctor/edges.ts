import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Edge } from '../../edge/contract/edge.ts'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { saidIn } from '../../model/errors.ts'
import { escapeText, quoteText } from '../../model/escape-text.ts'
import { MOST_STRAY_FILES, MOST_STRAY_LINES } from '../../model/host-status.ts'
import { type Finding, fault, ok, reasonOf, warning } from './finding.ts'
import { examineFolder, examineWritable } from './folders.ts'

/** The parts of an edge that doctor checks. */
export interface ExaminedEdge {
  readonly edge: Edge
  readonly part: 'Primary' | 'Secondary'
  readonly config: string
  readonly folder: string
  readonly binary: string
  readonly pidFile: string
  /** Drawbridge's folders below `folder`, outermost first. */
  readonly folders: readonly { readonly path: string; readonly mode: number }[]
  /** The pid of the running nginx that the pid file names. */
  readonly master: () => number | undefined
  /** Rejects with an EdgeFault if the main file does not include Drawbridge's folder. */
  readonly assertIncluded: () => Promise<unknown>
  /** Why this nginx cannot serve for Drawbridge. Undefined if it can. Rejects if it cannot be run. */
  readonly buildFault: () => Promise<string | undefined>
  /** Rejects as the service would when it writes its base file. Changes nothing. */
  readonly rehearse: () => Promise<void>
  /** Rejects with an EdgeFault if another process than the service owns the folder. Undefined where the agent itself looks. */
  readonly assertOurs?: () => Promise<void>
  /** The parts of nginx's configuration that Drawbridge does not understand, or left out because there were too many. */
  readonly unread: () => Promise<readonly UnreadPart[]>
  readonly now: () => number
}

interface UnreadPart {
  readonly path: string
  readonly line: number | null
  readonly sentence: string
}

/** An edge that an agent owns. */
export interface ExaminedAgent {
  readonly edge: Edge
  readonly part: 'Primary' | 'Secondary'
  /** What the agent finds on its machine. Rejects if it does not answer. */
  readonly examine: () => Promise<readonly Finding[]>
}

/** A fault of the Secondary's agent is a warning: hosts are served without it. */
export async function examineAgent({ edge, part, examine }: ExaminedAgent): Promise<readonly Finding[]> {
  const subject = `edge ${edge.server}`
  try {
    return [ok(subject, 'Its agent answers.'), ...(await examine()).map((told) => quoted(edge.server, told))]
  } catch (error) {
    const fix = 'Start "drawbridge edge" on its machine, and compare its edge.yaml with edges in this configuration.'
    const said = saidIn(error)
    const reason = said === undefined ? reasonOf(error) : `${reasonOf(error)} Its agent says: ${said}`
    return [(part === 'Primary' ? fault : warning)(subject, reason, fix)]
  }
}

/** The words of an agent are quoted, and its advice is none of ours: it may not be what it says it is. */
function quoted(server: string, { status, sentence, fix }: Finding): Finding {
  const advice = fix === undefined ? '' : ` It advises: ${quoteText(fix)}`
  const said = `Its agent says: ${quoteText(sentence)}${advice}`
  return { subject: `edge ${server}`, status, sentence: said, ...(status !== 'ok' && { fix: atEdge(server) }) }
}

const atEdge = (server: string): string =>
  `Check this on the machine of edge ${server} before you follow what its agent says.`

export async function examineEdge(examined: ExaminedEdge): Promise<Finding[]> {
  const { edge, config, folder, folders } = examined
  const subject = `edge ${edge.server}`
  const basics = [await examineProgram(subject, examined), await examineInclude(subject, examined)]
  return [
    ...basics,
    ...(basics.every(({ status }) => status === 'ok') ? [await examineBase(subject, examined)] : []),
    examineRunning(subject, examined),
    await examineLogLevel(subject, edge),
    await examineReading(subject, examined),
    await examineStray(subject, examined),
    await examineUnsettled(subject, examined),
    // Temporary copies of the main file are written beside it for tests.
    examineWritable(subject, dirname(config)),
    ...(await examineOwner(subject, examined)),
    ...folders.map(({ path, mode }) => examineFolder({ subject, path: join(folder, path), mode })),
  ]
}

async function examineProgram(subject: string, { edge, binary, config, buildFault }: ExaminedEdge): Promise<Finding> {
  try {
    const old = await buildFault()
    if (old !== undefined) return fault(subject, old, 'Install a newer nginx.')
    await edge.assertValid()
    return ok(subject, `nginx is installed, and ${config} is valid.`)
  } catch (error) {
    const broken = error instanceof EdgeFault && error.kind === 'config_broken'
    const fix = broken
      ? `No host can be exposed until this is changed. Drawbridge tests with \`${binary} -t -c ${config}\`.`
      : `Install nginx, or set edges.${edge.server}.binary to its path.`
    return fault(subject, reasonOf(error), fix)
  }
}

async function examineInclude(subject: string, { assertIncluded, config, folder }: ExaminedEdge): Promise<Finding> {
  try {
    await assertIncluded()
    return ok(subject, `${config} includes ${folder}.`)
  } catch (error) {
    const line = `include ${join(folder, '*.conf')};`
    return fault(subject, reasonOf(error), `Add this line to the http block of ${config}: ${line}`)
  }
}

/** Does in a test what the service does at its start. */
async function examineBase(subject: string, { rehearse }: ExaminedEdge): Promise<Finding> {
  try {
    await rehearse()
    return ok(subject, "nginx takes Drawbridge's servers beside those that it has.")
  } catch (error) {
    const fix = 'Until this is changed, names can be planned, but not applied.'
    return fault(subject, reasonOf(error), fix)
  }
}

/** Whoever changes an nginx that another process owns is refused. */
async function examineOwner(subject: string, { assertOurs, folder }: ExaminedEdge): Promise<Finding[]> {
  if (!assertOurs || !existsSync(folder)) return []
  try {
    await assertOurs()
    return [ok(subject, 'No other process owns its folder.')]
  } catch (error) {
    return [fault(subject, reasonOf(error), 'Until this is changed, no host can be exposed.')]
  }
}

async function examineLogLevel(subject: string, edge: Edge): Promise<Finding> {
  try {
    await edge.assertNoDebugLog()
    return ok(subject, 'nginx does not log at debug level.')
  } catch (error) {
    const fix =
      'Set error_log to notice or less there, remove debug_connection and reload nginx. Delete the log, and replace every ' +
      'certificate that was served in the meantime, because its key can be in the log.'
    return fault(subject, reasonOf(error), fix)
  }
}

/** nginx may accept what is not understood here, so it is no fault. */
async function examineReading(subject: string, { config, unread }: ExaminedEdge): Promise<Finding> {
  const parts = await unread().catch((error: unknown) => [{ path: config, line: null, sentence: reasonOf(error) }])
  const [first] = parts
  if (!first) return ok(subject, 'Its whole configuration is understood.')
  const place = `${escapeText(first.path)}${first.line === null ? '' : `, line ${first.line}`}`
  const more = parts.length > 1 ? `, and ${parts.length - 1} more` : ''
  return warning(
    subject,
    `Drawbridge does not understand a part of nginx's configuration, and may miss hosts there: ${first.sentence} (${place})${more}.`,
    'Compare the hosts of `drawbridge status` with the server blocks of that file. nginx may accept it as it is.',
  )
}

/** Only a person knows what these lines are for, so nothing removes them but the command that is told here. */
async function examineStray(subject: string, { edge, folder, binary, config }: ExaminedEdge): Promise<Finding> {
  const found = await edge.list([]).then(({ stray }) => stray, reasonOf)
  if (typeof found === 'string')
    return warning(subject, `Its files of hosts cannot be read: ${found}`, `Check the permissions below ${folder}.`)
  const [first, ...more] = found
  if (!first) return ok(subject, 'Every line in its files of hosts belongs to a host.')
  const path = escapeText(join(folder, first.file))
  const which = first.lines.length === 1 ? 'line' : 'lines'
  const atLeast = (count: number, most: number) => (count < most ? `${count}` : `${count} or more`)
  const others =
    more.length === 0 ? '' : ` Further files with such lines: ${atLeast(more.length, MOST_STRAY_FILES - 1)}.`
  const rest = first.lines.length < MOST_STRAY_LINES ? '' : ', and perhaps more'
  const removal = first.lines.map((line) => `${line}d`).join(';')
  return warning(
    subject,
    `${path} has lines that belong to no host: ${which} ${first.lines.join(', ')}${rest}.${others}`,
    `Look at the file. If nobody needs these lines, run: sed -i '${removal}' ${path} && ${binary} -t -c ${config} && ${binary} -s reload -c ${config}`,
  )
}

const DAY_MS = 86_400_000
/** A run that lasts longer is blocked, or its store is gone. */
const USUAL_MS = DAY_MS

/** What stood before an unsettled run is kept, but not for ever: see `forgetOld`. */
async function examineUnsettled(subject: string, { edge, now }: ExaminedEdge): Promise<Finding> {
  const found = await edge.unsettledRuns().catch(reasonOf)
  if (typeof found === 'string')
    return warning(
      subject,
      `Which runs are not settled cannot be read: ${found}`,
      'Check the permissions of its folder.',
    )
  const old = found.filter(({ since }) => now() - since > USUAL_MS)
  const [first] = old
  if (!first) return ok(subject, 'It keeps what stood before every run that is not settled.')
  const days = Math.floor((now() - first.since) / DAY_MS)
  return warning(
    subject,
    `${old.length === 1 ? 'A run has' : `${old.length} runs have`} not been settled for ${days} days (${first.run}). What stood before ` +
      'is kept for 30 days, and for the newest 200 changes of such runs.',
    'Run `drawbridge status`, and finish blocked plans with `drawbridge resolve PLAN`.',
  )
}

function examineRunning(subject: string, { master, pidFile, part }: ExaminedEdge): Finding {
  const pid = master()
  if (pid !== undefined) return ok(subject, `nginx runs (pid ${pid}).`)
  const sentence = `${pidFile} names no running nginx.`
  const fix = 'Start nginx, or set pidFile to the path of its pid file.'
  return part === 'Primary' ? fault(subject, sentence, fix) : warning(subject, sentence, fix)
}
