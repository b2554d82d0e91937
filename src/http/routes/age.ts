import type { FastifyReply } from 'fastify'

/** For how long the store has not confirmed an answer. Undefined while it has. */
export type Unconfirmed = () => number | undefined

/** Tells the age of an answer that comes from memory, because the store does not answer (RFC 9111, section 5.1). */
export function tellAge(reply: FastifyReply, ageMs: number | undefined): void {
  if (ageMs !== undefined) reply.header('age', String(Math.floor(ageMs / 1000)))
}
