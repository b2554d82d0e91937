/**
 * Settles as `work` does, or rejects with the reason of `signal` as soon as that aborts. `work` itself goes on: whoever
 * started it closes what it waits for.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener('abort', abort))
}
