import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Asked, QUESTIONS, Told } from './caller-program.ts'

type Questions = typeof QUESTIONS

/** A process in the network namespace of a machine that calls, visits and asks for the test. */
export class Caller {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #next = 0

  constructor(namespace: string) {
    const program = join(import.meta.dirname, 'caller-program.ts')
    this.#child = spawn('nsenter', [`--net=${namespace}`, '--', process.execPath, program], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', ({ id, answer, failure }: Told) => {
      if (failure === undefined) this.#waiting.get(id)?.resolve(answer)
      else this.#waiting.get(id)?.reject(new Error(failure))
      this.#waiting.delete(id)
    })
    this.#child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The caller ended.'))
    })
  }

  ask<Q extends keyof Questions>(question: Q, ...args: Parameters<Questions[Q]>): ReturnType<Questions[Q]> {
    const id = this.#next++
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#child.send({ id, question, args } satisfies Asked)
    return waiting.promise as ReturnType<Questions[Q]>
  }

  async stop(): Promise<void> {
    if (!this.#child.connected) return
    this.#child.disconnect()
    await new Promise((resolve) => this.#child.once('exit', resolve))
  }
}
