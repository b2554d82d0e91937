import { type ErrorCode, Problem } from './errors.ts'

/** A failure of the world, not of the program, with a sentence meant to be read: no secret, no stack, no file's content. */
export class Fault extends Error {
  /** The code it carries to the caller, where it has one of its own. */
  readonly code: ErrorCode | undefined
  /** Seconds after which it may be worth trying again, where that is known. */
  readonly retryAfter: number | undefined
}

/** What may be told of whatever was thrown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Problem) return error.sentence
  return error instanceof Fault ? error.message : 'An unexpected fault; the log tells more.'
}
