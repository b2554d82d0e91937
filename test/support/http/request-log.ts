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
