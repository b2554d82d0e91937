import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hostFile } from '../config/layout.ts'
import { ConfigFiles, type Loaded } from '../reading/text/config-files.ts'
import { Included, type Located } from '../reading/text/included.ts'
import type { Content } from '../reading/text/statements.ts'
import type { EdgeSettings } from '../settings.ts'
import { masterPid } from './nginx-workers.ts'

/** A directive that makes nginx log at debug level. `line` is null for the command line. */
export interface DebugLog {
  readonly path: string
  readonly line: number | null
}

type Watched = Pick<EdgeSettings, 'config' | 'folder' | 'pidFile'>

/**
 * At debug level nginx writes the value of every variable into its log, and it gets the private keys of our hosts through
 * variables. A handshake for one of our hosts is logged by `error_log` of the main and http contexts and by
 * `debug_connection`. Another server block logs only the handshakes for its own names. The files of our hosts are not read:
 * there may be thousands, and Drawbridge writes no `error_log` into them.
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

/** Matches `debug` and its subsystems such as `debug_http`. */
const isDebugLog = ({ name, args }: Located): boolean =>
  name === 'debug_connection' || (name === 'error_log' && args.slice(1).some((level) => level.startsWith('debug')))

/** Directives of the `-g` option are in no file. The title of the master process has the arguments. */
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

/** Treats the files of our hosts as empty. */
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
