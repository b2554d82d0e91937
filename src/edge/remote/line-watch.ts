import { connect } from 'node:net'
import type { Endpoint } from '../../model/address.ts'

const PROBE_MS = 2_000

/**
 * Notices that a machine is gone while an answer of it is awaited. A connection itself would only say so after many minutes, and a
 * connection whose packets were lost for a while is slow to go on when the machine is back.
 */
export class LineWatch {
  readonly #at: Endpoint
  readonly #onGone: () => void
  #awaited = 0
  #timer: NodeJS.Timeout | undefined

  constructor(at: Endpoint, onGone: () => void) {
    this.#at = at
    this.#onGone = onGone
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#awaited += 1
    this.#timer ??= this.#next()
    try {
      return await work()
    } finally {
      this.#awaited -= 1
      if (this.#awaited === 0) {
        clearTimeout(this.#timer)
        this.#timer = undefined
      }
    }
  }

  #next(): NodeJS.Timeout {
    return setTimeout(async () => {
      const isThere = await accepts(this.#at)
      if (this.#awaited === 0) return
      this.#timer = this.#next()
      if (!isThere) this.#onGone()
    }, PROBE_MS)
  }
}

/** Whether a new connection is accepted in time. */
const accepts = ({ address, port }: Endpoint): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: PROBE_MS })
    const end = (isThere: boolean) => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
  })
