import type { Caller } from '../authorize/caller.ts'
import { Problem } from '../model/errors.ts'
import { household } from './household.ts'

const MOST_IN_ALL = 1_000
/** The public can never keep callers of the internal network out. */
const MOST_PUBLIC = MOST_IN_ALL / 2
const MOST_PER_ADDRESS = 50
const RETRY_AFTER_SECONDS = 30

/** Counts the open event streams, whatever they tell, and refuses those past the bounds. */
export class OpenStreams {
  readonly #byAddress = new Map<string, number>()
  readonly #byNetwork = { internal: 0, public: 0 }

  /** Takes a place for a stream to this caller. The result gives the place back, however often it is called. */
  enter({ address, network }: Caller): () => void {
    const key = `${network} ${household(address)}`
    const own = this.#byAddress.get(key) ?? 0
    if (own >= MOST_PER_ADDRESS) throw tooMany(`${MOST_PER_ADDRESS} streams are open to this address.`)
    const all = this.#byNetwork.internal + this.#byNetwork.public
    if (all >= MOST_IN_ALL || (network === 'public' && this.#byNetwork.public >= MOST_PUBLIC)) {
      throw tooMany('Too many streams are open to other callers.')
    }
    this.#byAddress.set(key, own + 1)
    this.#byNetwork[network] += 1
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#byNetwork[network] -= 1
      const left = (this.#byAddress.get(key) ?? 1) - 1
      if (left === 0) this.#byAddress.delete(key)
      else this.#byAddress.set(key, left)
    }
  }
}

const tooMany = (detail: string): Problem =>
  new Problem('rate_limited', detail, {
    retryAfter: RETRY_AFTER_SECONDS,
    nextAction: 'Close a stream that is not needed, or wait the seconds of Retry-After and open it again.',
  })
