import { createHmac } from 'node:crypto'

/**
 * How an entry proves that it is the one of its plan. Asked with the header QUESTION and the value of its plan, its server
 * blocks add the header ANSWER with another value to whatever they answer. Both values follow from the plan's secret and
 * the host's name. Neither a backend nor another server block knows them: the entry keeps the question from its backend
 * and the backend's own header of that name from the visitor. The values open nothing.
 */
export const QUESTION = 'X-Drawbridge-Question'
export const ANSWER = 'X-Drawbridge-Entry'

export interface EntryProof {
  readonly question: string
  readonly answer: string
}

/** `secret`: of the plan, 64 hexadecimal digits. Throws for anything else. */
export function entryProof(secret: string, host: string): EntryProof {
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error('not the proof of a plan')
  const value = (of: string) =>
    createHmac('sha256', Buffer.from(secret, 'hex')).update(`${of} ${host}`).digest('hex').slice(0, 32)
  return { question: value('question'), answer: value('answer') }
}

/** Whose block it was that answered, by the header ANSWER of what came; undefined where nobody was asked for a proof. */
export const entryIn = (proof: EntryProof | undefined, header: string | undefined): 'ours' | 'other' | undefined =>
  proof && (header === proof.answer ? 'ours' : 'other')
