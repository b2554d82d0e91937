import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { clauseOf } from '../src/primitives/clause.ts'
import { lastOutput } from './last-output.ts'

const POLL_MS = 20
const KILL_AFTER_MS = 3_000
/** Pebble computes keys before it answers, which takes long on a busy machine. */
const READY_WITHIN_MS = 60_000

export interface DaemonOptions {
  /** Its name in messages. */
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  /** The output of the program is appended to this file. */
  readonly logFile: string
  readonly env?: NodeJS.ProcessEnv
  readonly isReady: () => Promise<boolean>
  readonly readyWithinMs?: number
  /** What asks the program to end. Default: SIGTERM. */
  readonly stopSignal?: NodeJS.Signals
  /** How long the program may take to end. Default: 3 s. */
  readonly killAfterMs?: number
}

/** A child process in its own process group, so that Ctrl-C reaches only this process. */
export interface Daemon {
  readonly name: string
  readonly pid: number
  readonly exited: Promise<void>
  isAlive(): boolean
  /** The last meaningful line that this process printed. */
  lastOutput(): string
  /** Sends the stop signal, then SIGKILL if the process does not exit. May be called twice. */
  stop(): Promise<void>
}

/** Resolves when the program is ready. Rejects with its last output if it exits or never becomes ready. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const daemon = await launchDaemon(options)
  const deadline = Date.now() + (options.readyWithinMs ?? READY_WITHIN_MS)
  while (!(await options.isReady())) {
    if (!daemon.isAlive()) throw new Error(`${options.name} did not start. Its last output: ${daemon.lastOutput()}`)
    if (Date.now() > deadline) {
      await daemon.stop()
      throw new Error(`${options.name} started but never became ready. Its last output: ${daemon.lastOutput()}`)
    }
    await sleep(POLL_MS)
  }
  return daemon
}

/** Does not wait until the program is ready. Rejects only if there is no such program. */
export async function launchDaemon(options: Omit<DaemonOptions, 'isReady'>): Promise<Daemon> {
  const { name, program, args, logFile, env, stopSignal = 'SIGTERM', killAfterMs = KILL_AFTER_MS } = options

  const log = openSync(logFile, 'a', 0o600)
  const logStart = statSync(logFile).size
  const child = spawn(program, args, { stdio: ['ignore', log, log], detached: true, env: env ?? process.env })
  closeSync(log)
  const pid = await pidOf(child, name)
  stopOnExit(child, stopSignal)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const isAlive = () => child.exitCode === null && child.signalCode === null
  return {
    name,
    pid,
    exited,
    isAlive,
    lastOutput: () => lastOutput(readFileSync(logFile).subarray(logStart).toString()),
    async stop() {
      if (!isAlive()) return
      child.kill(stopSignal)
      const killer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
      await exited
      clearTimeout(killer)
    },
  }
}

const pidOf = (child: ChildProcess, name: string): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0))
    child.once('error', (error) => reject(new Error(`${name} could not be started: ${clauseOf(error)}.`)))
  })

/** A child in its own process group would outlive a parent that exits without stopping it. */
function stopOnExit(child: ChildProcess, signal: NodeJS.Signals): void {
  const kill = () => child.kill(signal)
  process.setMaxListeners(0)
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
}
