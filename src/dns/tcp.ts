import { connect } from 'node:net'
import type { Endpoint } from '../model/address.ts'
import type { DnsOutcome, NoAnswer } from './contract.ts'
import { hear, type Query } from './query.ts'

const noAnswer = (reason: NoAnswer['reason']): NoAnswer => ({ kind: 'no_answer', reason })

/** One query over one connection. Only the first message is read: its two length octets bound it to 64 KiB. */
export function askOverTcp(server: Endpoint, query: Query, deadline: number): Promise<DnsOutcome> {
  const { promise, resolve } = Promise.withResolvers<DnsOutcome>()
  const socket = connect({ port: server.port, host: server.address })
  const end = setTimeout(() => settle(noAnswer('timeout')), Math.max(0, deadline - performance.now()))
  const settle = (outcome: DnsOutcome) => {
    clearTimeout(end)
    socket.destroy()
    resolve(outcome)
  }

  let received = Buffer.alloc(0)
  socket.on('connect', () => socket.write(framed(query.wire)))
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    const length = received.length < 2 ? Number.POSITIVE_INFINITY : received.readUInt16BE(0)
    if (received.length < 2 + length) return
    const heard = hear(query, received.subarray(2, 2 + length))
    settle(typeof heard === 'string' ? noAnswer('malformed') : heard)
  })
  socket.on('error', () => settle(noAnswer('unreachable')))
  socket.on('close', () => settle(noAnswer('unreachable')))
  return promise
}

function framed(wire: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(wire.length)
  return Buffer.concat([length, wire])
}
