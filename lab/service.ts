import { setTimeout as sleep } from 'node:timers/promises'
import { type Endpoint, urlOf } from './addresses.ts'
import { launcher } from './checkout.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { httpStatus } from './web-question.ts'

const PAUSE_MS = 200
/** With 10,000 hosts on a busy machine, reading the configuration takes long. */
const READY_WITHIN_MS = 60_000
/** More deaths within the window are a crash loop. */
const DEATHS_ALLOWED = 5
const WINDOW_MS = 30_000

export interface ServiceOptions {
  readonly configFile: string
  readonly logFile: string
  readonly listen: Endpoint
  readonly deathsAllowed?: number | undefined
  /** Called after every start, including the first. */
  readonly onStart: (daemon: Daemon) => void
  /** Called when the service died too often and is not restarted. */
  readonly onGiveUp: (reason: Error) => void
}

/** The service as a separate process. It is restarted with the same state whenever it dies. */
export class Service {
  readonly #options: ServiceOptions
  #deaths: number[] = []
  #current: Daemon | undefined
  #isWanted = true
  #nextEnvironment: Readonly<Record<string, string>> = {}
  #restart: Promise<void> = Promise.resolve()

  constructor(options: ServiceOptions) {
    this.#options = options
  }

  /** Resolves when the service answers. Rejects if it cannot start; that is not counted as a crash. */
  async start(): Promise<void> {
    this.#isWanted = true
    const daemon = await this.#launch()
    this.#current = daemon
    this.#options.onStart(daemon)
    void daemon.exited.then(() => {
      this.#restart = this.#restartAfter(daemon)
      this.#restart.catch((reason: Error) => this.#options.onGiveUp(reason))
    })
  }

  /** Sets environment variables for the next start only. */
  setNextEnvironment(environment: Readonly<Record<string, string>>): void {
    this.#nextEnvironment = environment
  }

  /** Resolves when the current process has died and the next one answers. */
  async restarted(): Promise<void> {
    await this.#current?.exited
    await this.#restart
  }

  /** Kills the process. Resolves when the next one answers. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const dying = this.#current
    if (!dying?.isAlive()) throw new Error('The service does not run, so it cannot be killed.')
    process.kill(dying.pid, signal)
    await this.restarted()
  }

  async stop(): Promise<void> {
    this.#isWanted = false
    await this.#current?.stop()
    await this.#restart.catch(() => undefined)
    await this.#current?.stop()
  }

  async #restartAfter(dead: Daemon): Promise<void> {
    let reason = dead.lastOutput()
    while (this.#isWanted) {
      this.#countDeath(reason)
      await sleep(PAUSE_MS)
      if (!this.#isWanted) return
      try {
        return await this.start()
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error)
      }
    }
  }

  #countDeath(reason: string): void {
    const now = Date.now()
    this.#deaths = [...this.#deaths.filter((at) => at > now - WINDOW_MS), now]
    if (this.#deaths.length <= (this.#options.deathsAllowed ?? DEATHS_ALLOWED)) return
    const seconds = WINDOW_MS / 1000
    throw new Error(
      `The service died ${this.#deaths.length} times in ${seconds} s and is not restarted. Its last output: ${reason}`,
    )
  }

  #launch(): Promise<Daemon> {
    const { configFile, logFile, listen } = this.#options
    const env = { ...process.env, ...this.#nextEnvironment }
    this.#nextEnvironment = {}
    return startDaemon({
      name: 'The service',
      program: process.execPath,
      args: [launcher(), 'serve', '--config', configFile],
      logFile,
      env,
      readyWithinMs: READY_WITHIN_MS,
      isReady: async () => (await httpStatus(`${urlOf(listen)}/readyz`)) === 200,
    })
  }
}
