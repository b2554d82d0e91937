import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { freePort } from '../../../lab/free-port.ts'
import { u16 } from '../../../src/dns/wire/bytes.ts'
import { decodeMessage } from '../../../src/dns/wire/message.ts'
import { encodeName } from '../../../src/dns/wire/name.ts'
import { listening } from '../listening.ts'

/** The correct data: an empty zone `lab.test`. */
const LIED_ABOUT_ZONE = 'lab.test'

export interface Asked {
  readonly name: string
  readonly type: string
  readonly query: Buffer
  /** The correct answer. */
  readonly truth: Buffer
  readonly from: Pick<RemoteInfo, 'address' | 'port'>
  /** How often the same query came before. */
  readonly repeated: number
}

/** The messages to send, in order. An empty list means no answer. */
export type Lie = (asked: Asked) => readonly Buffer[]

export interface Liar extends AsyncDisposable {
  readonly address: string
  readonly port: number
  readonly asked: readonly Asked[]
}

/** A fake authoritative server that sends wrong answers, which no real server can. `tcp` 'dead': no TCP listener. */
export async function startLiar(udp: Lie, tcp: Lie | 'dead' = honest, address = '127.0.0.1'): Promise<Liar> {
  const port = await freePort()
  const asked: Asked[] = []
  const note = (query: Buffer, from: Asked['from']): Asked => {
    const entry = { ...read(query), from, repeated: asked.filter((before) => before.query.equals(query)).length }
    asked.push(entry)
    return entry
  }
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  socket.on('message', (query, from) => {
    for (const bytes of udp(note(query, from))) socket.send(bytes, from.port, from.address)
  })
  socket.bind(port, address)
  await once(socket, 'listening')
  const server = createServer((connection) => {
    connection.once('data', (bytes) => {
      const from = { address: connection.remoteAddress ?? '', port: connection.remotePort ?? 0 }
      for (const sent of tcp === 'dead' ? [] : tcp(note(bytes.subarray(2), from))) connection.write(framed(sent))
    })
  })
  const listens = tcp === 'dead' ? undefined : await listening(server, { address, port })
  const stop = async () => {
    socket.close()
    await listens?.[Symbol.asyncDispose]()
  }
  return { address, port, asked, [Symbol.asyncDispose]: stop }
}

function read(query: Buffer): Pick<Asked, 'name' | 'type' | 'query' | 'truth'> {
  const { name = '', type = '' } = decodeMessage(query).questions[0] ?? {}
  const known = name === LIED_ABOUT_ZONE && type === 'SOA'
  const truth = known ? withAnswer(query, 6, soaData()) : reply(query, 0x8403)
  return { name, type, query: Buffer.from(query), truth }
}

const soaData = (): Buffer => Buffer.concat([encodeName('ns1.lab.test'), encodeName('lab.test'), Buffer.alloc(20, 1)])

/** A message as it is sent over TCP. */
export const framed = (message: Buffer): Buffer => Buffer.concat([u16(message.length), message])

/** Sends the correct answer. */
export const honest: Lie = ({ truth }) => [truth]
export const silent: Lie = () => []

/** An answer to the query without records. */
export function reply(query: Buffer, flags: number): Buffer {
  const bytes = Buffer.from(query)
  bytes.writeUInt16BE(flags, 2)
  return bytes
}

/** An authoritative answer with one record for the queried name. */
export function withAnswer(query: Buffer, type: number, rdata: Buffer, recordClass = 1): Buffer {
  const head = Buffer.alloc(12)
  for (const [i, number] of [0xc00c, type, recordClass, 0, 60, rdata.length].entries())
    head.writeUInt16BE(number, i * 2)
  const bytes = Buffer.concat([reply(query, 0x8400), head, rdata])
  bytes.writeUInt16BE(1, 6)
  return bytes
}

/** A referral to the name servers of `owner`. */
export function withReferral(query: Buffer, owner: string): Buffer {
  const target = encodeName('ns.elsewhere.test')
  const record = Buffer.concat([encodeName(owner), Buffer.from([0, 2, 0, 1, 0, 0, 0, 60, 0, target.length]), target])
  const bytes = Buffer.concat([reply(query, 0x8000), record])
  bytes.writeUInt16BE(1, 8)
  return bytes
}
