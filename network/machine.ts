import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Command } from '../lab/enrolment.ts'
import { lastOutputIn } from '../lab/last-output.ts'
import { findProgram } from '../lab/program.ts'
import type { Environment } from './parts.ts'
import type { Paths } from './paths.ts'
import type { MachineId } from './plan.ts'

/** What the program of a machine is asked to do. `end`: stop all parts. */
export interface Order {
  readonly id: number
  readonly action: 'start' | 'stop' | 'end'
  readonly part?: string
  /** For a start: variables for this start only. */
  readonly environment?: Environment
}

/** What the program of a machine tells. */
export type Report =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly id: number; readonly failure?: string }
  | { readonly kind: 'up'; readonly part: string; readonly pid: number }
  | { readonly kind: 'down'; readonly part: string; readonly pid: number; readonly lastOutput: string }
  | { readonly kind: 'gave-up'; readonly part: string; readonly sentence: string }

export type Happening = Exclude<Report, { kind: 'ready' | 'done' }>

/** A machine with parts: its network namespace, and a mount namespace that its program lives in. */
export class Machine {
  readonly #child: ChildProcess
  readonly #ready = Promise.withResolvers<void>()
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>()
  readonly #exited: Promise<void>
  #next = 0

  private constructor(child: ChildProcess, onHappening: (happening: Happening) => void, log: string) {
    this.#child = child
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()))
    child.on('message', (report: Report) => this.#hear(report, onHappening))
    void this.#exited.then(() => {
      const error = new Error(`The machine ended. Its last output: ${lastOutputIn(log)}`)
      for (const waiting of [this.#ready, ...this.#waiting.values()]) waiting.reject(error)
    })
  }

  /** Resolves when the machine takes orders. `namespace`: the path of its network namespace. */
  static async start(
    id: MachineId,
    namespace: string,
    paths: Paths,
    onHappening: (happening: Happening) => void,
  ): Promise<Machine> {
    const program = join(import.meta.dirname, `machine-program${extname(import.meta.filename)}`)
    const inside = [process.execPath, program, paths.folder, id]
    const unshare = [findProgram('unshare', 'util-linux'), '--mount', '--propagation', 'private', '--', ...inside]
    const log = paths.of(id, 'machine.log')
    const output = openSync(log, 'a', 0o600)
    const child = spawn(findProgram('nsenter', 'util-linux'), [`--net=${namespace}`, '--', ...unshare], {
      stdio: ['ignore', output, output, 'ipc'],
      // In its own process group, so that Ctrl-C reaches only this process.
      detached: true,
    })
    closeSync(output)
    const machine = new Machine(child, onHappening, log)
    await machine.#ready.promise
    return machine
  }

  /** Its process id. The mount namespace of the machine is that of this process. */
  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** The command that runs a program on this machine, as somebody does who is logged in there. */
  command({ program, args }: Command): Command {
    const inside = [`--target=${this.pid}`, '--net', '--mount', '--', program, ...args]
    return { program: findProgram('nsenter', 'util-linux'), args: inside }
  }

  startPart(part: string, environment: Environment): Promise<void> {
    return this.#order({ action: 'start', part, environment })
  }

  stopPart(part: string): Promise<void> {
    return this.#order({ action: 'stop', part })
  }

  /** Stops all parts and ends. May be called twice. */
  async end(): Promise<void> {
    if (this.#child.connected) {
      await this.#order({ action: 'end' }).catch(() => undefined)
      if (this.#child.connected) this.#child.disconnect()
    }
    await this.#exited
  }

  #order(order: Omit<Order, 'id'>): Promise<void> {
    const id = this.#next++
    const waiting = Promise.withResolvers<void>()
    this.#waiting.set(id, waiting)
    this.#child.send({ ...order, id }, (error) => error && waiting.reject(error))
    return waiting.promise.finally(() => this.#waiting.delete(id))
  }

  #hear(report: Report, onHappening: (happening: Happening) => void): void {
    if (report.kind === 'ready') this.#ready.resolve()
    else if (report.kind !== 'done') onHappening(report)
    else if (report.failure === undefined) this.#waiting.get(report.id)?.resolve()
    else this.#waiting.get(report.id)?.reject(new Error(report.failure))
  }
}
