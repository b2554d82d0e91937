import { dirname, join } from 'node:path'
import { type Edge, EdgeFault } from '../../edge/contract.ts'
import { type Finding, fault, ok, reasonOf, warning } from './finding.ts'
import { examineFolder, examineWritable } from './folders.ts'

/** One edge, as far as doctor looks at it. */
export interface ExaminedEdge {
  readonly edge: Edge
  readonly part: 'Primary' | 'Secondary'
  readonly config: string
  readonly folder: string
  readonly binary: string
  readonly pidFile: string
  /** Ours below `folder`, from the outermost to the innermost. */
  readonly folders: readonly { readonly path: string; readonly mode: number }[]
  /** The pid of the nginx that the pid file names, where it runs. */
  readonly master: () => number | undefined
  /** Rejects with an EdgeFault when the main file does not include our folder. */
  readonly assertIncluded: () => Promise<unknown>
}

export async function examineEdge(examined: ExaminedEdge): Promise<Finding[]> {
  const { edge, config, folder, folders } = examined
  const subject = `edge ${edge.server}`
  return [
    await examineProgram(subject, examined),
    await examineInclude(subject, examined),
    examineRunning(subject, examined),
    await examineLogLevel(subject, edge),
    // Shadows of the main file stand beside it while they are tested.
    examineWritable(subject, dirname(config)),
    ...folders.map(({ path, mode }) => examineFolder({ subject, path: join(folder, path), mode })),
  ]
}

async function examineProgram(subject: string, { edge, binary, config }: ExaminedEdge): Promise<Finding> {
  try {
    await edge.assertValid()
    return ok(subject, `nginx is there and ${config} is valid.`)
  } catch (error) {
    const broken = error instanceof EdgeFault && error.kind === 'config_broken'
    const fix = broken
      ? `Correct it until \`${binary} -t -c ${config}\` passes.`
      : `Install nginx, or name its program in edges.${edge.server}.binary.`
    return fault(subject, reasonOf(error), fix)
  }
}

async function examineInclude(subject: string, { assertIncluded, config, folder }: ExaminedEdge): Promise<Finding> {
  try {
    await assertIncluded()
    return ok(subject, `${config} includes ${folder}.`)
  } catch (error) {
    const line = `include ${join(folder, '*.conf')};`
    return fault(subject, reasonOf(error), `The http block of ${config} needs this line: ${line}`)
  }
}

async function examineLogLevel(subject: string, edge: Edge): Promise<Finding> {
  try {
    await edge.assertNoDebugLog()
    return ok(subject, 'nginx does not log at debug level.')
  } catch (error) {
    const fix =
      'Set error_log to notice or less there, take debug_connection away and reload nginx. Remove the log, and replace every ' +
      'certificate that was served meanwhile: its key may be in it.'
    return fault(subject, reasonOf(error), fix)
  }
}

function examineRunning(subject: string, { master, pidFile, part }: ExaminedEdge): Finding {
  const pid = master()
  if (pid !== undefined) return ok(subject, `nginx runs (pid ${pid}).`)
  const sentence = `No nginx runs by ${pidFile}.`
  const fix = 'Start it, or name its pid file in pidFile.'
  return part === 'Primary' ? fault(subject, sentence, fix) : warning(subject, sentence, fix)
}
