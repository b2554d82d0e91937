import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/document.ts'
import type { ConfigChanges, LiveConfig } from '../config/live.ts'
import type { Clock } from '../primitives/clock.ts'
import { replaceFile } from '../primitives/durable-file.ts'
import { poll } from '../primitives/retry.ts'
import type { Log } from '../runtime/log.ts'

/** The service of a state folder and its last reload, for `drawbridge reload`. */
interface Reloads {
  readonly pid: number
  /** Differs between two processes with the same pid. */
  readonly mark: string
  readonly count: number
  readonly last: ReloadOutcome | null
}

/** `faults`: why the file was not taken over. Then nothing has changed. */
export interface ReloadOutcome extends ConfigChanges {
  readonly faults: readonly string[]
}

interface ReloaderParts {
  readonly live: LiveConfig
  readonly stateDir: string
  /** Throws a ConfigError with all faults of the file. */
  readonly read: () => Config
  /** Called before a configuration is taken over. */
  readonly onRead: (config: Config) => void
  readonly log: Log
}

/** Reads the configuration again at SIGHUP. A file with faults changes nothing. */
export class Reloader {
  readonly #parts: ReloaderParts
  readonly #onSignal = () => void this.#turn()
  #working: Promise<void> = Promise.resolve()
  #count = 0

  constructor(parts: ReloaderParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    await this.#remember(null)
    process.on('SIGHUP', this.#onSignal)
  }

  /** From now on SIGHUP is ignored, because it would end the process in the middle of its shutdown. */
  stop(): void {
    process.off('SIGHUP', this.#onSignal)
    process.on('SIGHUP', () => undefined)
  }

  #turn(): Promise<void> {
    this.#working = this.#working.then(() => this.#reload())
    return this.#working
  }

  async #reload(): Promise<void> {
    const { log } = this.#parts
    const outcome = this.#takeOver()
    const { faults, changed, needRestart } = outcome
    if (faults.length > 0)
      log.error(
        { event: 'config_refused', faults },
        'The configuration was not reloaded; the former one stays in force.',
      )
    else log.info({ event: 'config_reloaded', changed, needRestart }, 'The configuration was reloaded.')
    this.#count += 1
    await this.#remember(outcome).catch((error: unknown) =>
      log.error({ event: 'reload_not_told', err: error }, 'The outcome of a reload could not be written.'),
    )
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

  #remember(last: ReloadOutcome | null): Promise<void> {
    const { pid } = process
    const told: Reloads = { pid, mark: markOf(pid) ?? '', count: this.#count, last }
    return replaceFile(fileIn(this.#parts.stateDir), JSON.stringify(told), 0o600)
  }
}

const PATIENCE_MS = 15_000

/** Asks the service of a state folder to reload. Resolves with what it did. Rejects if there is none. */
export async function reloadService(stateDir: string, clock: Clock): Promise<ReloadOutcome> {
  const before = reloadsIn(stateDir)
  if (!before || markOf(before.pid) !== before.mark)
    throw new Error(`No service uses the state folder ${stateDir}. It reads its configuration when it starts.`)
  process.kill(before.pid, 'SIGHUP')
  const after = await poll(
    () => reloadsIn(stateDir),
    (now) => now !== undefined && (now.count > before.count || now.mark !== before.mark),
    { firstMs: 50, withinMs: PATIENCE_MS, clock },
  )
  if (after?.mark === before.mark && after.last && after.count > before.count) {
    if (after.last.faults.length > 0) throw new ConfigError(after.last.faults)
    return after.last
  }
  throw new Error(`The service (process ${before.pid}) has not said within 15 s what it did. See its log.`)
}

export function reloadLines({ changed, needRestart }: ReloadOutcome): string[] {
  const taken = changed.length === 0 ? 'Nothing has changed.' : `In force now: ${changed.join(', ')}.`
  return needRestart.length === 0
    ? [taken]
    : [taken, `Changed, and in force after a restart: ${needRestart.join(', ')}.`]
}

const fileIn = (stateDir: string): string => join(stateDir, 'reload.json')

function reloadsIn(stateDir: string): Reloads | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(stateDir), 'utf8')) as Reloads
  } catch {
    return undefined
  }
}

/** The boot of the machine and the start of the process. Undefined if there is no such process. */
function markOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may contain spaces.
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${started}`
  } catch {
    return undefined
  }
}
