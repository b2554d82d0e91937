import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { freePort } from '../../../lab/free-port.ts'
import type { TsigKeySettings } from '../../../src/dns/tsig.ts'
import { u16, u48 } from '../../../src/dns/wire/bytes.ts'
import { decodeMessage } from '../../../src/dns/wire/message.ts'
import { encodeName } from '../../../src/dns/wire/name.ts'
import type { WireRecord } from '../../../src/dns/wire/record.ts'
import { CLASS_IN, CLASS_NONE, typeNumber } from '../../../src/dns/wire/record-types.ts'
import { splitTsig } from '../../../src/dns/wire/tsig.ts'
import { listening } from '../listening.ts'
import { framed, reply } from './dns-liar.ts'
import { signedAnswer, UPDATE_ANSWER } from './tsig-answer.ts'

type Kept = Pick<WireRecord, 'owner' | 'type' | 'rdata'>

interface Held {
  readonly wire: Buffer
  readonly answer: (bytes: Buffer) => void
}

export interface HoldingServer extends AsyncDisposable {
  readonly address: string
  readonly port: number
  /** What it serves, as `owner TYPE`. */
  readonly served: () => readonly string[]
  /** The updates that it holds. */
  readonly held: () => number
  /**
   * From now on updates wait. `unread`: as in the socket of a process that is stopped, so that a signature may run out.
   * `queued`: their signatures were accepted, and they are made whenever it is their turn. `unread changes`: those that change
   * nothing are read, as on a connection that another thread reads.
   */
  hold(where: 'unread' | 'queued' | 'unread changes'): void
  /** How many updates that change nothing were answered. */
  readonly rehearsed: () => number
  /** Makes what is held, in order, and holds nothing more. */
  release(): void
}

/**
 * A stand-in for a name server of the empty zone `lab.test` that goes on answering questions while it holds updates, as a real one
 * does under load. It checks a signature when it reads an update, on the clock `now`, and knows the prerequisites that Drawbridge
 * sends.
 */
export async function startHoldingServer(key: TsigKeySettings, now: () => number): Promise<HoldingServer> {
  const port = await freePort()
  const records: Kept[] = [{ owner: 'lab.test', type: 'SOA', rdata: Buffer.alloc(22) }]
  const unread: Held[] = []
  const queued: Held[] = []
  let holding: Parameters<HoldingServer['hold']>[0] | undefined
  let rehearsed = 0
  const seconds = () => Math.floor(now() / 1000)
  const make = ({ wire, answer }: Held) => {
    const rcode = madeOf(wire, records)
    if (isRehearsal(wire)) rehearsed += 1
    answer(signedAnswer(wire, key, { flags: UPDATE_ANSWER | rcode, seconds: seconds() }))
  }
  const read = (update: Held) => {
    const { time = 0, fudge = 0 } = splitTsig(update.wire)?.tsig ?? {}
    if (Math.abs(seconds() - time) > fudge)
      return update.answer(signedAnswer(update.wire, key, { ...BADTIME, seconds: time, other: u48(seconds()) }))
    if (holding === 'queued') queued.push(update)
    else make(update)
  }
  const tcp = createServer((socket) => {
    socket.once('data', (bytes) => {
      const answer = (message: Buffer) => void socket.write(framed(message))
      const update = { wire: bytes.subarray(2), answer }
      const isUnread = holding === 'unread' || (holding === 'unread changes' && !isRehearsal(update.wire))
      if (isUnread) unread.push(update)
      else read(update)
    })
  })
  const udp = createSocket('udp4')
  udp.on('message', (query, from) => udp.send(answerTo(query, records), from.port, from.address))
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  const listens = await listening(tcp, { port })
  return {
    ...listens,
    served: () => records.map(({ owner, type }) => `${owner} ${type}`).filter((name) => name !== 'lab.test SOA'),
    held: () => unread.length + queued.length,
    rehearsed: () => rehearsed,
    hold: (where) => {
      holding = where
    },
    release: () => {
      holding = undefined
      for (const update of queued.splice(0)) make(update)
      for (const update of unread.splice(0)) read(update)
    },
    async [Symbol.asyncDispose]() {
      udp.close()
      await listens[Symbol.asyncDispose]()
    },
  }
}

const isRehearsal = (wire: Buffer): boolean => wire.includes('_drawbridge-rehearsal')

const BADTIME = { flags: UPDATE_ANSWER | 9, error: 18 }
const [YXDOMAIN, NXRRSET, YXRRSET] = [6, 8, 7]

/** Makes an update, all or nothing (RFC 2136 section 3). Returns the rcode. */
function madeOf(wire: Buffer, records: Kept[]): number {
  const { answers: prerequisites, authority: changes } = decodeMessage(wire)
  const at = ({ owner, type }: Kept) => records.filter((record) => record.owner === owner && record.type === type)
  for (const wanted of prerequisites) {
    if (wanted.class === CLASS_IN && !at(wanted).some(({ rdata }) => rdata.equals(wanted.rdata))) return NXRRSET
    if (wanted.class !== CLASS_NONE) continue
    if (wanted.type !== 'ANY' && at(wanted).length > 0) return YXRRSET
    if (wanted.type === 'ANY' && records.some(({ owner }) => owner === wanted.owner)) return YXDOMAIN
  }
  for (const change of changes) {
    const index = records.findIndex((record) => at(change).includes(record) && record.rdata.equals(change.rdata))
    if (change.class === CLASS_IN && index < 0) records.push(change)
    if (change.class === CLASS_NONE && index >= 0) records.splice(index, 1)
  }
  return 0
}

/** An authoritative answer. */
function answerTo(query: Buffer, records: readonly Kept[]): Buffer {
  const [{ name, type } = { name: '', type: '' }] = decodeMessage(query).questions
  const isKnown = records.some(({ owner }) => owner === name || owner.endsWith(`.${name}`))
  const found = records.filter((record) => record.owner === name && record.type === type)
  const answer = Buffer.concat([
    reply(query, isKnown ? 0x8400 : 0x8403),
    ...found.map(({ owner, rdata }) =>
      Buffer.concat([encodeName(owner), u16(typeNumber(type), CLASS_IN, 0, 60, rdata.length), rdata]),
    ),
  ])
  answer.writeUInt16BE(found.length, 6)
  return answer
}
