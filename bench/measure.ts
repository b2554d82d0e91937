/** In milliseconds. */
export interface Samples {
  readonly count: number
  readonly p50: number
  readonly p95: number
}

export function summarize(milliseconds: readonly number[]): Samples {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { count: sorted.length, p50: at(0.5), p95: at(0.95) }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

export const formatMs = (ms: number): string => `${ms.toFixed(2)} ms`
