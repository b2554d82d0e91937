import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import type { Endpoint } from '../model/address.ts'
import type { FairClock } from '../primitives/fair-clock.ts'
import type { DnsAnswer, DnsOutcome, DnsQuestion, NoAnswer } from './contract.ts'
import { u16 } from './wire/bytes.ts'
import { decodeMessageOrUndefined, encodeQuery, type Message } from './wire/message.ts'
import { CLASS_IN } from './wire/record-types.ts'

export interface Query {
  readonly question: DnsQuestion
  readonly id: number
  readonly wire: Buffer
}

/** Chooses an id that is not in `taken`, so that one socket can carry many queries. */
export function makeQuery(question: DnsQuestion, recursive: boolean, taken: Set<number>): Query {
  let id = randomInt(0x10000)
  while (taken.has(id)) id = randomInt(0x10000)
  taken.add(id)
  return { question, id, wire: encodeQuery({ id, name: question.name, type: question.type, recursive }) }
}

/** `foreign`: the message does not belong to the query. */
type ParsedAnswer = DnsAnswer | 'truncated' | 'malformed' | 'foreign'

function parseAnswer(query: Query, bytes: Buffer): ParsedAnswer {
  if (bytes.length < 2 || bytes.readUInt16BE(0) !== query.id) return 'foreign'
  const message = decodeMessageOrUndefined(bytes)
  if (!message) return 'malformed'
  if (!message.response || message.opcode !== 0 || !repeatsQuestion(message, query.question)) return 'foreign'
  if (message.truncated) return 'truncated'
  const { rcode, authoritative, recursionAvailable, answers, authority } = message
  if ([...answers, ...authority].some((record) => record.class !== CLASS_IN)) return 'malformed'
  return { kind: 'answer', rcode, authoritative, recursionAvailable, answers, authority }
}

function repeatsQuestion({ questions: [echo, ...more] }: Message, asked: DnsQuestion): boolean {
  const sameName = echo?.name === asked.name.toLowerCase()
  return sameName && echo?.type === asked.type && echo.class === CLASS_IN && more.length === 0
}

interface UdpLimits {
  /** Started with the question. */
  readonly clock: FairClock
  readonly limitMs: number
  /** A query without an answer is sent again, once, after this time. */
  readonly resendAfterMs: number
  /** When it aborts, the socket is closed as if the time were up. */
  readonly signal?: AbortSignal | undefined
}

type UdpOutcome = DnsAnswer | NoAnswer | 'truncated'
type UdpOutcomes = ReadonlyMap<Query, Promise<UdpOutcome>>

/**
 * Sends all queries over one socket and waits for each answer. The socket is connected, so the kernel drops packets from
 * other addresses. Messages that belong to none of the queries are ignored until the deadline.
 */
function askOverUdp(server: Endpoint, queries: readonly Query[], limits: UdpLimits): UdpOutcomes {
  if (queries.length === 0) return new Map()
  const socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4')
  const waiting = new Map(queries.map((query) => [query.id, { query, ...Promise.withResolvers<UdpOutcome>() }]))
  const outcomes = new Map([...waiting.values()].map(({ query, promise }) => [query, promise]))
  const malformed = new Set<number>()

  const settle = (id: number, outcome: UdpOutcome) => {
    waiting.get(id)?.resolve(outcome)
    waiting.delete(id)
    if (waiting.size === 0) stop()
  }
  const giveUp = (reason: 'timeout' | 'unreachable') => {
    for (const id of [...waiting.keys()])
      settle(id, { kind: 'no_answer', reason: malformed.has(id) ? 'malformed' : reason })
  }
  const send = () => {
    for (const { query } of waiting.values()) socket.send(query.wire, (error) => error && giveUp('unreachable'))
  }
  const resend = limits.clock.base.after(limits.resendAfterMs, send)
  const cancelLimit = limits.clock.limit(limits.limitMs, () => giveUp('timeout'), limits.signal)
  const stop = () => {
    resend.cancel()
    cancelLimit()
    socket.close()
  }

  socket.on('error', () => giveUp('unreachable'))
  socket.on('message', (bytes) => {
    const asked = bytes.length >= 2 ? waiting.get(bytes.readUInt16BE(0)) : undefined
    if (!asked) return
    const answer = parseAnswer(asked.query, bytes)
    if (answer === 'malformed') malformed.add(asked.query.id)
    else if (answer !== 'foreign') settle(asked.query.id, answer)
  })
  socket.connect(server.port, server.address, send)
  return outcomes
}

/** `sent`: whether the server may have received the message. */
export type TcpOutcome =
  | { readonly kind: 'message'; readonly bytes: Buffer }
  | { readonly kind: 'no_message'; readonly reason: 'timeout' | 'unreachable'; readonly sent: boolean }

export type TcpLimit = Omit<UdpLimits, 'resendAfterMs'>

/** How messages reach a name server, and answers come back. */
export interface DnsTransport {
  readonly askOverUdp: typeof askOverUdp
  readonly exchangeOverTcp: typeof exchangeOverTcp
}

/** One query over one connection. */
export async function askOverTcp(
  server: Endpoint,
  query: Query,
  limit: TcpLimit,
  exchange: DnsTransport['exchangeOverTcp'],
): Promise<DnsOutcome> {
  const outcome = await exchange(server, query.wire, limit)
  if (outcome.kind === 'no_message') return noAnswer(outcome.reason)
  const answer = parseAnswer(query, outcome.bytes)
  return typeof answer === 'string' ? noAnswer('malformed') : answer
}

/** Sends one message and reads the first answer. Its two length octets limit it to 64 KiB. */
function exchangeOverTcp(server: Endpoint, wire: Buffer, { clock, limitMs, signal }: TcpLimit): Promise<TcpOutcome> {
  const { promise, resolve } = Promise.withResolvers<TcpOutcome>()
  const socket = connect({ port: server.port, host: server.address })
  const cancelLimit = clock.limit(limitMs, () => fail('timeout'), signal)
  let sent = false
  const settle = (outcome: TcpOutcome) => {
    cancelLimit()
    socket.destroy()
    resolve(outcome)
  }
  const fail = (reason: 'timeout' | 'unreachable') => settle({ kind: 'no_message', reason, sent })

  let received = Buffer.alloc(0)
  socket.on('connect', () => {
    sent = true
    socket.write(Buffer.concat([u16(wire.length), wire]))
  })
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    const length = received.length < 2 ? Number.POSITIVE_INFINITY : received.readUInt16BE(0)
    if (received.length >= 2 + length) settle({ kind: 'message', bytes: received.subarray(2, 2 + length) })
  })
  socket.on('error', () => fail('unreachable'))
  socket.on('close', () => fail('unreachable'))
  return promise
}

const noAnswer = (reason: NoAnswer['reason']): NoAnswer => ({ kind: 'no_answer', reason })

export const sockets: DnsTransport = { askOverUdp, exchangeOverTcp }
