import type { TestService } from './service.ts'

export interface RequestLine {
  readonly requestId: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly ms: number
  readonly code?: string
}

/** The request lines of a service's log. */
export const requestLog = (api: TestService): RequestLine[] =>
  api
    .log()
    .split('\n')
    .filter((line) => line.includes('"event":"request"'))
    .map((line) => JSON.parse(line))

/** The given quantile of the values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
