import { setTimeout as sleep } from 'node:timers/promises'

/** A store that hangs must not hang every read: after so long a read tells what is known. */
const LONGEST_WAIT_MS = 1_000

/** Makes reads wait while a change is committed and brought to the board, so that all reads tell the same state. */
export class ReadBarrier {
  readonly #changes = new Map<Promise<unknown>, string | undefined>()

  /** Runs a change of `host`, or of all hosts where it is undefined. */
  during<T>(host: string | undefined, change: () => Promise<T>): Promise<T> {
    const under = change().finally(() => this.#changes.delete(settled))
    const settled = under.catch(() => undefined)
    this.#changes.set(settled, host)
    return under
  }

  /** Resolves when the changes that have begun are over: those of `host`, or all where it is undefined. */
  async passed(host?: string): Promise<void> {
    const waitedFor = [...this.#changes].filter(([, one]) => !host || !one || one === host).map(([change]) => change)
    if (waitedFor.length === 0) return
    await Promise.race([Promise.all(waitedFor), sleep(LONGEST_WAIT_MS, undefined, { ref: false })])
  }
}
