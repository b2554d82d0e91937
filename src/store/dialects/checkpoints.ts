import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../primitives/clock.ts'
import type { Order } from './checkpoint-thread.ts'

/** The thread and its connection take some megabytes, so they end after this time without a checkpoint. */
const IDLE_MS = 30_000

/**
 * Moves the write-ahead log of a database into its file. SQLite waits for the disk meanwhile, so that is done on a thread: it would
 * hold the event loop for 30 to 60 ms.
 */
export class Checkpoints {
  readonly #file: string
  readonly #clock: Clock
  #thread: Worker | undefined
  #idle: Timer | undefined

  constructor(file: string, clock: Clock) {
    this.#file = file
    this.#clock = clock
  }

  /** Resolves when it is over, also if it could not be made: then the log keeps what it has. */
  async make(): Promise<void> {
    this.#idle?.cancel()
    this.#thread ??= this.#start()
    const thread = this.#thread
    thread.ref()
    const { promise, resolve } = Promise.withResolvers<void>()
    thread.once('message', resolve).once('exit', resolve)
    thread.postMessage('checkpoint' satisfies Order)
    await promise
    thread.off('message', resolve).off('exit', resolve).unref()
    this.#idle = this.#clock.after(IDLE_MS, () => void this.end(), { ref: false })
  }

  /** Closes the connection of the thread: the last one of a database removes the log. */
  async end(): Promise<void> {
    this.#idle?.cancel()
    const thread = this.#thread
    this.#thread = undefined
    if (!thread) return
    const { promise, resolve } = Promise.withResolvers<void>()
    thread.once('exit', () => resolve())
    thread.ref()
    thread.postMessage('end' satisfies Order)
    await promise
  }

  #start(): Worker {
    const thread = new Worker(new URL(`checkpoint-thread${extname(import.meta.url)}`, import.meta.url), {
      // A thread cannot use all options of this process, such as --eval.
      execArgv: [],
      workerData: { file: this.#file },
    })
    thread.on('error', () => undefined)
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined
    })
    return thread
  }
}
