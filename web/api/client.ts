import { createClient, Refusal, Unreachable } from '../../src/client/index.ts'

/** The page calls the API like any other client, at its own origin. */
export const client = createClient(location.origin)

export const isWorthRetrying = (fault: unknown): boolean =>
  fault instanceof Unreachable || (fault instanceof Refusal && fault.status === 503)
