import { createHmac } from 'node:crypto'
import { LruCache } from '../../primitives/lru-cache.ts'

/**
 * Proves which server block answered. A request has the header QUESTION with a value of the plan. The plan's server blocks
 * then add the header ANSWER with another value to every response. Both values are derived from the plan's secret and the
 * host name. Backends and other server blocks do not know them: the server block removes QUESTION before it calls the
 * backend, and removes ANSWER from the backend's response. The values grant no access.
 */
export const QUESTION = 'X-Drawbridge-Question'
export const ANSWER = 'X-Drawbridge-Entry'

/** The header of the edge's own response. It distinguishes an unknown host from a 404 of a backend. */
export const UNKNOWN_HOST = { header: 'X-Drawbridge-Edge', value: 'no-such-host' }

export interface EntryProof {
  readonly question: string
  readonly answer: string
}

/** A plan that was rebuilt from an edge has the values instead of a secret. Throws for anything else. */
export function entryProof(secret: string, host: string): EntryProof {
  const [, question, answer] = KNOWN_VALUES.exec(secret) ?? []
  if (question !== undefined && answer !== undefined) return { question, answer }
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error('The proof of a plan must have 64 hexadecimal digits.')
  const key = `${secret} ${host}`
  const known = recent.get(key)
  if (known) return known
  const value = (of: string) =>
    createHmac('sha256', Buffer.from(secret, 'hex')).update(`${of} ${host}`).digest('hex').slice(0, 32)
  const proof = { question: value('question'), answer: value('answer') }
  recent.set(key, proof)
  return proof
}

const KNOWN_VALUES = /^([0-9a-f]{32}):([0-9a-f]{32})$/

/** The secret of a plan whose values are known. */
export const proofOf = ({ question, answer }: EntryProof): string => `${question}:${answer}`

export const isProof = (text: string): boolean => KNOWN_VALUES.test(text) || /^[0-9a-f]{64}$/.test(text)

/** The monitor asks for every host in turn: a cache of fewer hosts than there are would never have the next one. */
const recent = new LruCache<string, EntryProof>(20_000)

/** Which server block sent the response with this ANSWER header; undefined for a request without a proof. */
export const entryIn = (proof: EntryProof | undefined, header: string | undefined): 'ours' | 'other' | undefined =>
  proof && (header === proof.answer ? 'ours' : 'other')
