import { type Endpoint, urlOf } from './addresses.ts'
import { launcher } from './checkout.ts'
import { type Daemon, type DaemonOptions, startDaemon } from './daemon.ts'
import { Supervised } from './supervised.ts'
import { httpStatus } from './web-question.ts'

const PAUSE_MS = 200
/** With 10,000 hosts on a busy machine, reading the configuration takes long. */
const READY_WITHIN_MS = 60_000
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
export class Service extends Supervised {
  #nextEnvironment: Readonly<Record<string, string>> = {}

  constructor({ deathsAllowed = DEATHS_ALLOWED, onStart, onGiveUp, ...process }: ServiceOptions) {
    super({
      name: 'The service',
      start: () => startDaemon({ ...serviceDaemon(process), env: this.#takeEnvironment() }),
      pauseMs: PAUSE_MS,
      deathsAllowed,
      windowMs: WINDOW_MS,
      onStart,
      onGiveUp,
    })
  }

  /** Sets environment variables for the next start only. */
  setNextEnvironment(environment: Readonly<Record<string, string>>): void {
    this.#nextEnvironment = environment
  }

  #takeEnvironment(): NodeJS.ProcessEnv {
    const environment = { ...process.env, ...this.#nextEnvironment }
    this.#nextEnvironment = {}
    return environment
  }
}

/** How the service is started. It is ready when it answers so. */
export const serviceDaemon = ({
  configFile,
  logFile,
  listen,
}: Pick<ServiceOptions, 'configFile' | 'logFile' | 'listen'>): DaemonOptions => ({
  name: 'The service',
  program: process.execPath,
  args: [launcher(), 'serve', '--config', configFile],
  logFile,
  readyWithinMs: READY_WITHIN_MS,
  isReady: async () => (await httpStatus(`${urlOf(listen)}/readyz`)) === 200,
})
