import { setTimeout as sleep } from 'node:timers/promises'
import { type Endpoint, urlOf } from './addresses.ts'
import { launcher } from './checkout.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { httpStatus } from './web-question.ts'

const PAUSE_MS = 200
/** With 10,000 hosts on a busy machine it has a lot to read first. */
const READY_WITHIN_MS = 60_000
/** More deaths than this within the window are a crash loop. */
const DEATHS_ALLOWED = 5
const WINDOW_MS = 30_000

export interface ServiceOptions {
  readonly configFile: string
  readonly logFile: string
  readonly listen: Endpoint
  readonly deathsAllowed?: number | undefined
  /** Called after every start, the first included. */
  readonly onStart: (daemon: Daemon) => void
  /** Called when it died too often to be started once more. */
  readonly onGiveUp: (reason: Error) => void
}

/** The service as a process of its own, started again on the same state whenever it dies. */
export class Service {
  readonly #options: ServiceOptions
  #deaths: number[] = []
  #current: Daemon | undefined
  #isWanted = true
  #nextLife: Readonly<Record<string, string>> = {}
  #revival: Promise<void> = Promise.resolve()

  constructor(options: ServiceOptions) {
    this.#options = options
  }

  /** Resolves when it answers. One that cannot start at all is an Error, not a crash loop. */
  async start(): Promise<void> {
    this.#isWanted = true
    const daemon = await this.#launch()
    this.#current = daemon
    this.#options.onStart(daemon)
    void daemon.exited.then(() => {
      this.#revival = this.#revive(daemon)
      this.#revival.catch((reason: Error) => this.#options.onGiveUp(reason))
    })
  }

  /** Environment variables for its next start, and for no later one. */
  giveToNextLife(environment: Readonly<Record<string, string>>): void {
    this.#nextLife = environment
  }

  /** Resolves when it has died by itself and its successor answers. */
  async death(): Promise<void> {
    await this.#current?.exited
    await this.#revival
  }

  /** Lets it die as in an accident; resolves when its successor answers. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const dying = this.#current
    if (!dying?.isAlive()) throw new Error('The service does not run.')
    process.kill(dying.pid, signal)
    await this.death()
  }

  async stop(): Promise<void> {
    this.#isWanted = false
    await this.#current?.stop()
    await this.#revival.catch(() => undefined)
    await this.#current?.stop()
  }

  async #revive(dead: Daemon): Promise<void> {
    let reason = dead.lastWords()
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
      `The service died ${this.#deaths.length} times in ${seconds} s and is left alone. Its last words: ${reason}`,
    )
  }

  #launch(): Promise<Daemon> {
    const { configFile, logFile, listen } = this.#options
    const env = { ...process.env, ...this.#nextLife }
    this.#nextLife = {}
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
