import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hostFile } from '../config/layout.ts'
import { ConfigFiles, type Loaded } from '../reading/text/config-files.ts'
import { Included, type Located } from '../reading/text/included.ts'
import type { Content } from '../reading/text/statements.ts'
import type { EdgeSettings } from '../settings.ts'
import { masterPid } from './nginx-workers.ts'

/** Where an nginx is told to log at debug level. `line` is null for its command line. */
export interface DebugLog {
  readonly path: string
  readonly line: number | null
}

type Watched = Pick<EdgeSettings, 'config' | 'folder' | 'pidFile'>

/**
 * At debug level nginx writes the value of every variable into its log, and the private keys of our hosts come to it through
 * variables. What counts is what a handshake for one of our hosts is logged by: `error_log` of the main and http contexts,
 * and `debug_connection`. A server block of somebody else logs the handshakes for its own names only. The files of our hosts are
 * left out: there may be thousands, and nothing that is rendered here has an `error_log`.
 */
export function debugLogs({ config, folder, pidFile }: Watched): readonly DebugLog[] {
  const included = new Included(new ForeignFiles(folder), config)
  return [...debugLogsIn(included), ...commandLineDebugLogs(pidFile)]
}

function* debugLogsIn(included: Included): Generator<DebugLog> {
  for (const statement of included.main()) {
    if (isDebugLog(statement)) yield statement
    if (statement.name === 'events' || statement.name === 'http') yield* [...included.in(statement)].filter(isDebugLog)
  }
}

/** `debug` and its parts (`debug_http` and others), to whatever kind of log. */
const isDebugLog = ({ name, args }: Located): boolean =>
  name === 'debug_connection' || (name === 'error_log' && args.slice(1).some((level) => level.startsWith('debug')))

/** Directives given with `-g` stand in no file; nginx keeps its arguments in the title of its master. */
function commandLineDebugLogs(pidFile: string): DebugLog[] {
  const path = `/proc/${masterPid(pidFile)}/cmdline`
  return /\berror_log\s[^;]*\sdebug|\bdebug_connection\s/.test(textOf(path)) ? [{ path, line: null }] : []
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** All files but those of our hosts, which are taken for empty. */
class ForeignFiles extends ConfigFiles {
  readonly #hosts: string

  constructor(folder: string) {
    super()
    this.#hosts = join(folder, dirname(hostFile('*')))
  }

  override load(path: string, content: Content): Loaded {
    return dirname(path) === this.#hosts ? { statements: [], fault: undefined } : super.load(path, content)
  }
}
