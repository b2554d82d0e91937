/**
 * Runs `work` never twice at the same time. Callers during a run share the next run: the current one may have looked before
 * something changed.
 */
export function sharedNextRun<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let waiting: Promise<T> | undefined
  const begin = (): Promise<T> => {
    waiting = undefined
    return work()
  }
  return () => {
    waiting ??= last.then(begin, begin)
    last = waiting
    return waiting
  }
}
