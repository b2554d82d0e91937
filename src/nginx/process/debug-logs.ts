import { readFileSync } from 'node:fs'
import type { DebugLog } from '../../edge/served.ts'
import { BaseFile } from '../../estate/reading/base-file.ts'
import { ParsedConfiguration } from '../../estate/reading/parsed-configuration.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { Slices } from '../../primitives/slices.ts'
import { masterPid } from './nginx-workers.ts'

/**
 * Finds the directives that make nginx log at debug level. At that level nginx writes the value of every variable into its log, and it
 * gets the private keys of our hosts through variables. A handshake for one of our hosts is logged by `error_log` of the main and http
 * contexts and by `debug_connection`. Another server block logs only the handshakes for its own names.
 */
export function debugLogReader(
  settings: Pick<EdgeSettings, 'config' | 'folder' | 'pidFile' | 'clock'>,
): () => Promise<readonly DebugLog[]> {
  const base = new BaseFile(settings.folder)
  const configuration = new ParsedConfiguration(settings, 'logs')
  return async () => {
    const { debugLogs } = await configuration.read(base.read(), [], new Slices(settings.clock))
    return [...debugLogs, ...commandLineDebugLogs(settings.pidFile)]
  }
}

/** Directives of the `-g` option are in no file. The title of the master process contains the arguments. */
export function commandLineDebugLogs(pidFile: string): DebugLog[] {
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
