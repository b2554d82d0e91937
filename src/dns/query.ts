import { randomInt } from 'node:crypto'
import type { DnsAnswer, DnsQuestion } from './contract.ts'
import { decodeMessageOrUndefined, encodeQuery, type Message } from './wire/message.ts'
import { CLASS_IN } from './wire/record-classes.ts'

/** A question made ready to send. */
export interface Query {
  readonly question: DnsQuestion
  readonly id: number
  readonly wire: Buffer
}

/** Draws an id that is not among `taken`, so that one socket can carry many queries. */
export function makeQuery(question: DnsQuestion, recursive: boolean, taken: Set<number>): Query {
  let id = randomInt(0x10000)
  while (taken.has(id)) id = randomInt(0x10000)
  taken.add(id)
  return { question, id, wire: encodeQuery({ id, name: question.name, type: question.type, recursive }) }
}

/** What a message means to a query: its answer, a reason to ask over TCP, broken, or nothing at all. */
export type Heard = DnsAnswer | 'truncated' | 'malformed' | 'foreign'

export function hear(query: Query, bytes: Buffer): Heard {
  if (bytes.length < 2 || bytes.readUInt16BE(0) !== query.id) return 'foreign'
  const message = decodeMessageOrUndefined(bytes)
  if (!message) return 'malformed'
  if (!message.response || message.opcode !== 0 || !echoes(message, query.question)) return 'foreign'
  if (message.truncated) return 'truncated'
  const { rcode, authoritative, recursionAvailable, answers, authority } = message
  if ([...answers, ...authority].some((record) => record.class !== CLASS_IN)) return 'malformed'
  return { kind: 'answer', rcode, authoritative, recursionAvailable, answers, authority }
}

function echoes({ questions: [echo, ...more] }: Message, asked: DnsQuestion): boolean {
  const sameName = echo?.name === asked.name.toLowerCase()
  return sameName && echo?.type === asked.type && echo.class === CLASS_IN && more.length === 0
}
