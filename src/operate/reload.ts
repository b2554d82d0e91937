import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/document.ts'
import type { LiveConfig } from '../config/live.ts'
import type { Log } from '../runtime/log.ts'
import { askForReload, type ReloadOutcome } from './control/client.ts'

interface ReloaderParts {
  readonly live: LiveConfig
  /** Throws a ConfigError with all faults of the file. */
  readonly read: () => Config
  /** Called before a configuration is taken over. */
  readonly onRead: (config: Config) => void
  readonly log: Log
}

/** Reads the configuration again, at SIGHUP or when a command asks for it. A file with faults changes nothing. */
export class Reloader {
  readonly #parts: ReloaderParts
  readonly #onSignal = () => void this.reload()

  constructor(parts: ReloaderParts) {
    this.#parts = parts
  }

  start(): void {
    process.on('SIGHUP', this.#onSignal)
  }

  /** From now on SIGHUP is ignored, because it would end the process in the middle of its shutdown. */
  stop(): void {
    process.off('SIGHUP', this.#onSignal)
    process.on('SIGHUP', () => undefined)
  }

  reload(): ReloadOutcome {
    const { log } = this.#parts
    const outcome = this.#takeOver()
    const { faults, changed, needRestart } = outcome
    if (faults.length > 0)
      log.error(
        { event: 'config_refused', faults },
        'The configuration was not reloaded; the former one stays in force.',
      )
    else log.info({ event: 'config_reloaded', changed, needRestart }, 'The configuration was reloaded.')
    return outcome
  }

  #takeOver(): ReloadOutcome {
    const { read, onRead, live } = this.#parts
    try {
      const next = read()
      onRead(next)
      return { ...live.replace(next), faults: [] }
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return { changed: [], needRestart: [], faults: error.message.split('\n') }
    }
  }
}

/** Asks the service of a state folder to reload. Resolves with what it did. Rejects if there is none, or if the file has faults. */
export async function reloadService(stateDir: string): Promise<ReloadOutcome> {
  const outcome = await askForReload(stateDir)
  if (outcome.faults.length > 0) throw new ConfigError(outcome.faults)
  return outcome
}

export function reloadLines({ changed, needRestart }: ReloadOutcome): string[] {
  const taken = changed.length === 0 ? 'Nothing has changed.' : `In force now: ${changed.join(', ')}.`
  return needRestart.length === 0
    ? [taken]
    : [taken, `Changed, and in force after a restart: ${needRestart.join(', ')}.`]
}
