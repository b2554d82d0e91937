import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastWords } from './last-words.ts'

const POLL_MS = 20
const KILL_AFTER_MS = 3_000

export interface DaemonOptions {
  /** How messages call it. */
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  /** Everything that it prints is appended here. */
  readonly logFile: string
  readonly env?: NodeJS.ProcessEnv
  readonly isReady: () => Promise<boolean>
  readonly readyWithinMs?: number
}

/** A program that runs in the foreground as a child of ours, in a process group of its own: a Ctrl-C reaches us alone. */
export interface Daemon {
  readonly name: string
  readonly pid: number
  readonly exited: Promise<void>
  isAlive(): boolean
  /** What this run printed last, as far as it tells anything. */
  lastWords(): string
  /** SIGTERM, and SIGKILL when that does not help. May be called twice. */
  stop(): Promise<void>
}

/** Starts it and waits until it is ready. One that dies first, or is never ready, is an Error with its own last words. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const daemon = await launch(options)
  const giveUpAt = Date.now() + (options.readyWithinMs ?? 15_000)
  while (!(await options.isReady())) {
    if (!daemon.isAlive()) throw new Error(`${options.name} did not start: ${daemon.lastWords()}`)
    if (Date.now() > giveUpAt) {
      await daemon.stop()
      throw new Error(`${options.name} was started but never became ready. Its last words: ${daemon.lastWords()}`)
    }
    await sleep(POLL_MS)
  }
  return daemon
}

async function launch({ name, program, args, logFile, env }: DaemonOptions): Promise<Daemon> {
  const log = openSync(logFile, 'a', 0o600)
  const logStart = statSync(logFile).size
  const child = spawn(program, args, { stdio: ['ignore', log, log], detached: true, env: env ?? process.env })
  closeSync(log)
  const pid = await pidOf(child, name)
  dieWithUs(child)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const isAlive = () => child.exitCode === null && child.signalCode === null
  return {
    name,
    pid,
    exited,
    isAlive,
    lastWords: () => lastWords(readFileSync(logFile).subarray(logStart).toString()),
    async stop() {
      if (!isAlive()) return
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
      await exited
      clearTimeout(killer)
    },
  }
}

const pidOf = (child: ChildProcess, name: string): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0))
    child.once('error', (error) => reject(new Error(`${name} could not be started: ${error.message}`)))
  })

/** A child in a group of its own would outlive a parent that ends without stopping it. */
function dieWithUs(child: ChildProcess): void {
  const kill = () => child.kill('SIGTERM')
  process.setMaxListeners(0)
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
}
