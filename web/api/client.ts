import { createClient, Refusal, Unreachable } from '../../src/client/index.ts'

/** The page is a client of the API like any other, at the address it came from. */
export const client = createClient(location.origin)

export const isWorthRetrying = (fault: unknown): boolean =>
  fault instanceof Unreachable || (fault instanceof Refusal && fault.status === 503)
