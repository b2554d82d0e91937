import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { u16 } from '../../../src/dns/wire/bytes.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { framed } from '../../support/dns/dns-liar.ts'
import { listening } from '../../support/listening.ts'
import { NameServer } from '../../world/name-server.ts'
import type { StartHost } from './bench.ts'

const TRUNCATED = 0x8600

/** The name server of the simulated world behind real sockets, on the time of this machine. */
export const startSimulated: StartHost = async ({ zone, key, stranger }) => {
  const time = { now: systemClock.now, after: (ms: number, call: () => void) => systemClock.after(ms, call).cancel }
  const nameServer = new NameServer(time, zone, key, stranger)
  const stream = createServer((socket) => {
    let held = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      held = Buffer.concat([held, bytes])
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
        const end = 2 + held.readUInt16BE(0)
        nameServer.receive(held.subarray(2, end), (answer) => socket.write(framed(answer)))
        held = held.subarray(end)
      }
    })
  })
  const listens = await listening(stream)
  const { address, port } = listens
  const packets = createSocket('udp4')
  packets.on('message', (wire, from) => {
    const short = Buffer.concat([u16(wire.readUInt16BE(0), TRUNCATED, 1, 0, 0, 0), wire.subarray(12)])
    packets.send(short, from.port, from.address)
  })
  packets.bind(port, address)
  await once(packets, 'listening')
  return {
    endpoint: { address, port },
    pid: process.pid,
    async stop() {
      packets.close()
      await listens[Symbol.asyncDispose]()
    },
  }
}
