import { createSocket } from 'node:dgram'
import type { FairClock } from '../fair-clock.ts'
import type { Endpoint } from '../model/address.ts'
import type { DnsAnswer, NoAnswer } from './contract.ts'
import { hear, type Query } from './query.ts'

export interface UdpLimits {
  /** Runs since the question was put. */
  readonly clock: FairClock
  readonly limitMs: number
  /** A query without an answer is sent once more after this time. */
  readonly resendAfterMs: number
}

type UdpOutcome = DnsAnswer | NoAnswer | 'truncated'
type UdpOutcomes = ReadonlyMap<Query, Promise<UdpOutcome>>

/**
 * Sends all queries over one socket and waits for each answer. The socket is connected: the kernel drops what comes
 * from anyone but the server. Messages that answer none of the queries are ignored until the deadline.
 */
export function askOverUdp(server: Endpoint, queries: readonly Query[], limits: UdpLimits): UdpOutcomes {
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
  const resend = setTimeout(send, limits.resendAfterMs)
  const callOff = limits.clock.limit(limits.limitMs, () => giveUp('timeout'))
  const stop = () => {
    clearTimeout(resend)
    callOff()
    socket.close()
  }

  socket.on('error', () => giveUp('unreachable'))
  socket.on('message', (bytes) => {
    const asked = bytes.length >= 2 ? waiting.get(bytes.readUInt16BE(0)) : undefined
    if (!asked) return
    const heard = hear(asked.query, bytes)
    if (heard === 'malformed') malformed.add(asked.query.id)
    else if (heard !== 'foreign') settle(asked.query.id, heard)
  })
  socket.connect(server.port, server.address, send)
  return outcomes
}
