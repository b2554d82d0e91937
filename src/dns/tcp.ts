import { connect } from 'node:net'
import type { FairClock } from '../fair-clock.ts'
import type { Endpoint } from '../model/address.ts'
import type { DnsOutcome, NoAnswer } from './contract.ts'
import { hear, type Query } from './query.ts'
import { u16 } from './wire/uint.ts'

/** `sent`: whether the server may have received our message. */
export type TcpOutcome =
  | { readonly kind: 'message'; readonly bytes: Buffer }
  | { readonly kind: 'no_message'; readonly reason: 'timeout' | 'unreachable'; readonly sent: boolean }

/** When to give up. */
export interface TcpLimit {
  readonly clock: FairClock
  readonly limitMs: number
}

/** One query over one connection. */
export async function askOverTcp(server: Endpoint, query: Query, limit: TcpLimit): Promise<DnsOutcome> {
  const outcome = await exchangeOverTcp(server, query.wire, limit)
  if (outcome.kind === 'no_message') return noAnswer(outcome.reason)
  const heard = hear(query, outcome.bytes)
  return typeof heard === 'string' ? noAnswer('malformed') : heard
}

/** One message each way. Only the first that comes is read: its two length octets bound it to 64 KiB. */
export function exchangeOverTcp(server: Endpoint, wire: Buffer, { clock, limitMs }: TcpLimit): Promise<TcpOutcome> {
  const { promise, resolve } = Promise.withResolvers<TcpOutcome>()
  const socket = connect({ port: server.port, host: server.address })
  const callOff = clock.limit(limitMs, () => fail('timeout'))
  let sent = false
  const settle = (outcome: TcpOutcome) => {
    callOff()
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
