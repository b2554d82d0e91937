import type { Clock } from '../primitives/clock.ts'
import { errorCode } from '../primitives/durable-file.ts'
import { poll } from '../primitives/retry.ts'

const PAUSES = { firstMs: 500, factor: 2, longestMs: 10_000 }

interface Listening {
  readonly onListening: () => void
  /** Called once, when the machine does not have the address. */
  readonly onMissing: () => void
  /** Called if listening fails for another reason after the address has appeared. */
  readonly onFault: (error: unknown) => void
  readonly clock: Clock
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/**
 * Listens. If the machine does not have the address, resolves and continues to try: a link, DHCP or a tunnel may come up later, and
 * the program's other work must not wait for it. Rejects if the first try fails for another reason.
 */
export async function listenWhenThere(listen: () => Promise<unknown>, parts: Listening): Promise<void> {
  const { onListening, onMissing, onFault, clock, signal } = parts
  const isThere = async () => {
    try {
      await listen()
    } catch (error) {
      if (errorCode(error) === 'EADDRNOTAVAIL') return false
      throw error
    }
    onListening()
    return true
  }
  if (await isThere()) return
  onMissing()
  const wait = async () => {
    await clock.sleep(PAUSES.firstMs, { signal })
    await poll(isThere, Boolean, { ...PAUSES, clock, signal })
  }
  wait().catch((error: unknown) => {
    if (!signal.aborted) onFault(error)
  })
}
