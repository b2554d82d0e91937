import { IssueFault } from '../contract.ts'

/** Waits for the lock, then works. */
export type OrderLock = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Orders at one authority are placed one after the other, so that every waiting caller sees the Retry-After of the first one.
 * When the authority does not answer one of them, every caller that was already waiting gets the same fault at once: each of
 * them would only wait for the same timeout.
 */
export function orderLock(): OrderLock {
  let last: Promise<unknown> = Promise.resolve()
  let outage: { readonly at: number; readonly fault: IssueFault } | undefined

  return (work) => {
    const since = performance.now()
    const result = last.then(async () => {
      if (outage && outage.at >= since) throw outage.fault
      try {
        return await work()
      } catch (error) {
        if (error instanceof IssueFault && error.kind === 'unavailable')
          outage = { at: performance.now(), fault: error }
        throw error
      }
    })
    last = result.catch(() => undefined)
    return result
  }
}
