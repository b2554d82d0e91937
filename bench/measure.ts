/** The spread of a measure, in the unit of its values. Percentiles are values that were measured (nearest rank). */
export interface Spread {
  readonly count: number
  readonly min: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

export function summarize(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => percentile(sorted, share)
  return { count: sorted.length, min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
}

/** Of values in ascending order. NaN without values. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN

export const median = (values: readonly number[]): number => summarize(values).p50

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** A part that is slow today must not keep the others from being measured. */
export interface Limit {
  readonly rounds: number
  readonly warmUp: number
  /** No round begins later than this, except the first that counts. Default: a minute. */
  readonly mostMs?: number
}

/** The numbers of the rounds. Those below 0 are the warm-up and do not count. */
export function* roundsOf({ rounds, warmUp, mostMs = 60_000 }: Limit): Generator<number> {
  const started = performance.now()
  for (let round = -warmUp; round < rounds; round += 1) {
    const isLate = performance.now() - started > mostMs
    if (isLate && round > 0) return
    if (!isLate || round === 0) yield round
  }
}

/** The line `a + b * x` with the least squares of relative errors, so that small sizes count as much as large ones. */
export function fitLine(points: readonly { readonly x: number; readonly y: number }[]): { a: number; b: number } {
  const sums = { w: 0, x: 0, y: 0, xx: 0, xy: 0 }
  for (const { x, y } of points) {
    const w = 1 / Math.max(y * y, Number.EPSILON)
    sums.w += w
    sums.x += w * x
    sums.y += w * y
    sums.xx += w * x * x
    sums.xy += w * x * y
  }
  const b = (sums.w * sums.xy - sums.x * sums.y) / (sums.w * sums.xx - sums.x * sums.x)
  return { a: (sums.y - b * sums.x) / sums.w, b }
}
