import { execFile } from 'node:child_process'
import { EdgeFault } from './contract.ts'
import { codeOf } from './files.ts'
import type { EdgeSettings } from './settings.ts'

const PATIENCE_MS = 60_000
/** A dump holds every file of the configuration. */
const MOST_OUTPUT = 256 * 1024 * 1024

export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs nginx on a configuration, without a shell. Rejects with `unavailable` when it cannot be run to its end. */
export function runNginx({ binary, prefix }: EdgeSettings, option: '-t' | '-T', config: string): Promise<Ended> {
  const args = [option, '-q', '-e', 'stderr', ...(prefix === undefined ? [] : ['-p', prefix]), '-c', config]
  const limits = { timeout: PATIENCE_MS, killSignal: 'SIGKILL', maxBuffer: MOST_OUTPUT } as const
  return new Promise((resolve, reject) => {
    execFile(binary, args, limits, (error, output, errors) => {
      if (!error) resolve({ code: 0, output, errors })
      else if (typeof error.code === 'number') resolve({ code: error.code, output, errors })
      else {
        const cause = codeOf(error) ?? 'it did not end by itself'
        reject(new EdgeFault('unavailable', `nginx could not be asked about its configuration (${binary}: ${cause}).`))
      }
    })
  })
}
