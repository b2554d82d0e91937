import type { Clock } from '../primitives/clock.ts'
import { DnsWriteFault } from './contract.ts'

export interface BarrierParts {
  /** Sends a signed update that changes nothing, and resolves with the server's time in its authentic answer. */
  readonly probe: (signal: AbortSignal | undefined) => Promise<{ readonly serverSeconds: number }>
  readonly clock: Clock
  /** The longest time from the signing of an update to the end of its signature, in seconds. */
  readonly longestSeconds: number
  /** Limits the whole wait. */
  readonly withinMs: number
}

const PAUSE_MS = 250

/**
 * Resolves when no update whose signature is valid up to the second `validUntil` can be made any more. A server checks a signature
 * when it reads an update, and makes the updates of a zone in the order in which it has read them. So an update that was read in
 * time has been made when a later one is answered that was sent after the server's own clock had passed `validUntil`, and one that
 * was not read in time is refused. Only the server's clock counts: it is in every signed answer. Rejects with DnsWriteFault of the
 * kind `unknown` at the limit, or with the reason of `signal`.
 */
export async function awaitBarrier(
  validUntil: number,
  { probe, clock, longestSeconds, withinMs }: BarrierParts,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = clock.monotonic() + withinMs
  /** The server's time in the last answer, which is before the next question is sent. */
  let shown = Number.NEGATIVE_INFINITY
  let reason = ''
  // Our own clock may be wrong: it only spares questions that are asked too early.
  let pauseMs = Math.min((validUntil + 1) * 1000 - clock.now(), (longestSeconds + 1) * 1000)
  for (;;) {
    if (pauseMs > 0) await clock.sleep(pauseMs, { signal })
    signal?.throwIfAborted()
    const answer = await probe(signal).catch(faultOnly)
    const isSentAfterwards = shown > validUntil
    if (answer instanceof DnsWriteFault) {
      reason = answer.message
      pauseMs = PAUSE_MS
    } else {
      if (isSentAfterwards) return
      shown = answer.serverSeconds
      reason = `Its clock is still at ${shown}, and an update is valid until ${validUntil}.`
      pauseMs = Math.max(0, (validUntil + 1 - shown) * 1000)
    }
    if (clock.monotonic() + pauseMs > deadline)
      throw new DnsWriteFault(
        'unknown',
        `Whether the DNS server made an update is still unknown after ${withinMs / 1000} s. ${reason}`,
      )
  }
}

function faultOnly(error: unknown): DnsWriteFault {
  if (error instanceof DnsWriteFault) return error
  throw error
}
