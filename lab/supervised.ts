import { setTimeout as sleep } from 'node:timers/promises'
import type { Daemon } from './daemon.ts'

export interface SupervisedOptions {
  /** Its name in messages. */
  readonly name: string
  /** Starts the process. `isRestart`: it ran before and died. Rejects if it cannot start. */
  readonly start: (isRestart: boolean) => Promise<Daemon>
  readonly pauseMs: number
  /** More deaths within the window are a crash loop. Default: no window, all deaths count. */
  readonly deathsAllowed: number
  readonly windowMs?: number
  /** Called after every start, including the first. */
  readonly onStart: (daemon: Daemon) => void
  /** Called when the process died too often and is not restarted. */
  readonly onGiveUp: (reason: Error) => void
}

/** A process that is restarted whenever it dies. */
export class Supervised {
  readonly #options: SupervisedOptions
  #deaths: number[] = []
  #current: Daemon | undefined
  #isWanted = true
  #restart: Promise<void> = Promise.resolve()

  constructor(options: SupervisedOptions) {
    this.#options = options
  }

  /** Rejects if the process cannot start; that is not counted as a death. */
  start(): Promise<void> {
    this.#isWanted = true
    return this.#start(false)
  }

  /** Resolves when the current process has died and the next one has started. */
  async restarted(): Promise<void> {
    await this.#current?.exited
    await this.#restart
  }

  /** Kills the process. Resolves when the next one has started. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const dying = this.#current
    if (!dying?.isAlive()) throw new Error(`${this.#options.name} does not run, so it cannot be killed.`)
    process.kill(dying.pid, signal)
    await this.restarted()
  }

  async stop(): Promise<void> {
    this.#isWanted = false
    await this.#current?.stop()
    await this.#restart.catch(() => undefined)
    await this.#current?.stop()
  }

  async #start(isRestart: boolean): Promise<void> {
    const daemon = await this.#options.start(isRestart)
    this.#current = daemon
    this.#options.onStart(daemon)
    void daemon.exited.then(() => {
      this.#restart = this.#restartAfter(daemon)
      this.#restart.catch((reason: Error) => this.#options.onGiveUp(reason))
    })
  }

  async #restartAfter(dead: Daemon): Promise<void> {
    let reason = dead.lastOutput()
    while (this.#isWanted) {
      this.#countDeath(reason)
      await sleep(this.#options.pauseMs)
      if (!this.#isWanted) return
      try {
        return await this.#start(true)
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error)
      }
    }
  }

  #countDeath(reason: string): void {
    const { name, deathsAllowed, windowMs = Number.POSITIVE_INFINITY } = this.#options
    const now = Date.now()
    this.#deaths = [...this.#deaths.filter((at) => at > now - windowMs), now]
    if (this.#deaths.length <= deathsAllowed) return
    const within = Number.isFinite(windowMs) ? ` in ${windowMs / 1000} s` : ''
    throw new Error(
      `${name} died ${this.#deaths.length} times${within} and is not restarted. Its last output: ${reason}`,
    )
  }
}
