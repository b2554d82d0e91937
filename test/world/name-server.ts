import type { DnsTransport, TcpOutcome } from '../../src/dns/transport.ts'
import { TsigKey, type TsigKeySettings } from '../../src/dns/tsig.ts'
import { u16, u48 } from '../../src/dns/wire/bytes.ts'
import { decodeMessage, type Message } from '../../src/dns/wire/message.ts'
import { decodeRdata, encodeRdata } from '../../src/dns/wire/rdata.ts'
import { encodeRecord } from '../../src/dns/wire/record.ts'
import { splitTsig, tsigVariables } from '../../src/dns/wire/tsig.ts'
import { OPCODE_UPDATE } from '../../src/dns/wire/update.ts'
import type { ZoneRecord } from '../../src/model/receipt.ts'
import { signedAnswer } from '../support/dns/tsig-answer.ts'
import type { Process } from './process.ts'
import type { Timeline } from './timeline.ts'

const [NOERROR, NXDOMAIN, YXDOMAIN, YXRRSET, NXRRSET, NOTAUTH] = [0, 3, 6, 7, 8, 9]
const [CLASS_IN, CLASS_NONE, CLASS_ANY] = [1, 254, 255]
const BADTIME = 18
const ANSWER = 0x8400
const UPDATE_ANSWER = 0xa800
/**
 * How a name server does not keep up. `frozen`: it reads nothing until the end. `queue`: it reads and answers questions, but makes
 * the updates that it has read, and whose signatures it has accepted, only at the end.
 */
export type StallKind = 'frozen' | 'queue'

interface Asked {
  readonly wire: Buffer
  readonly answer: (bytes: Buffer) => void
}

type Rdata = ReadonlyMap<string, number>

/** The primary name server of one zone, at the seam of its messages (RFC 2136, RFC 8945). It knows no lease and no fence. */
export class NameServer {
  /** How far its clock is ahead, in seconds. */
  skewSeconds = 0
  /** It refuses connections. */
  isDown = false
  /** Answers that it has sent do not arrive. */
  losesAnswers = false
  /** One way over the wire. */
  wireMs = 2
  /** Called after each update that changed something. */
  onChange: () => void = () => undefined
  readonly #timeline: Timeline
  readonly #zone: string
  readonly #settings: TsigKeySettings
  readonly #key: TsigKey
  /** By name and type: the values in hex, with their times to live. */
  readonly #sets = new Map<string, Rdata>()
  #stalls: { readonly kind: StallKind; readonly ms: number; afterMessages: number }[] = []
  #frozenUntil = 0
  #queuedUntil = 0

  constructor(timeline: Timeline, zone: string, key: TsigKeySettings) {
    this.#timeline = timeline
    this.#zone = zone
    this.#settings = key
    this.#key = new TsigKey(key)
  }

  /** It begins when this many further messages have arrived. */
  stall(kind: StallKind, ms: number, afterMessages: number): void {
    this.#stalls.push({ kind, ms, afterMessages })
  }

  /** Ends every fault. */
  mend(): void {
    Object.assign(this, { skewSeconds: 0, isDown: false, losesAnswers: false, wireMs: 2 })
    this.#stalls = []
  }

  get records(): readonly ZoneRecord[] {
    return [...this.#sets].flatMap(([key, values]) => {
      const [name = '', type = ''] = key.split(' ')
      return [...values].map(([hex, ttl]) => {
        const known = type as ZoneRecord['type']
        return { name, type: known, ttl, value: decodeRdata(known, Buffer.from(hex, 'hex')) ?? hex }
      })
    })
  }

  /** Somebody else writes or removes a record. */
  edit(record: ZoneRecord, how: 'add' | 'remove'): void {
    const key = `${record.name} ${record.type}`
    const hex = encodeRdata(record).toString('hex')
    const values = new Map(this.#sets.get(key))
    if (how === 'add') values.set(hex, record.ttl)
    else values.delete(hex)
    this.#put(key, values)
  }

  /** Every answer over UDP is truncated, so that each question comes again over a connection. */
  transportOf(process: Process): DnsTransport {
    return {
      askOverUdp: (_server, queries) => new Map(queries.map((query) => [query, Promise.resolve('truncated' as const)])),
      exchangeOverTcp: async (_server, wire, { clock, limitMs, signal }) => {
        await process.awake()
        process.point('send a message to the name server')
        if (this.isDown) return { kind: 'no_message', reason: 'unreachable', sent: false }
        const { promise, resolve } = Promise.withResolvers<TcpOutcome>()
        const late = () => resolve({ kind: 'no_message', reason: 'timeout', sent: true })
        const cancel = clock.limit(limitMs, late, signal)
        const answer = (bytes: Buffer) => {
          if (!this.losesAnswers) this.#timeline.after(this.wireMs, () => resolve({ kind: 'message', bytes }))
        }
        this.#timeline.after(this.wireMs, () => this.#arrive({ wire, answer }))
        const outcome = await promise
        cancel()
        await process.awake()
        process.point('hear from the name server')
        return outcome
      },
    }
  }

  #arrive(asked: Asked): void {
    this.#beginStalls()
    this.#read(asked)
  }

  #beginStalls(): void {
    const now = this.#timeline.now()
    const due = this.#stalls.filter(({ afterMessages }) => afterMessages === 0)
    for (const { kind, ms } of due)
      if (kind === 'frozen') this.#frozenUntil = Math.max(this.#frozenUntil, now + ms)
      else this.#queuedUntil = Math.max(this.#queuedUntil, now + ms)
    this.#stalls = this.#stalls.filter((stall) => !due.includes(stall))
    for (const stall of this.#stalls) stall.afterMessages -= 1
  }

  #read(asked: Asked): void {
    const wait = this.#frozenUntil - this.#timeline.now()
    if (wait > 0) return void this.#timeline.after(wait, () => this.#read(asked))
    const message = decodeMessage(asked.wire)
    if (message.opcode === OPCODE_UPDATE) this.#readUpdate(asked, message)
    else asked.answer(this.#answerTo(asked.wire, message))
  }

  /** The signature counts at the moment at which the update is read. */
  #readUpdate({ wire, answer }: Asked, message: Message): void {
    const signed = splitTsig(wire)
    if (!signed) throw new Error('An update without a signature was sent.')
    const { tsig } = signed
    const expected = this.#key.mac(signed.message, tsigVariables(tsig))
    if (!expected.equals(tsig.mac)) throw new Error('An update with a wrong signature was sent.')
    const seconds = this.#seconds()
    if (Math.abs(seconds - tsig.time) > tsig.fudge) {
      const time = { seconds: tsig.time, fudge: tsig.fudge, other: u48(seconds) }
      answer(signedAnswer(wire, this.#settings, { flags: UPDATE_ANSWER | NOTAUTH, error: BADTIME, ...time }))
      return
    }
    this.#makeInOrder(() => {
      const rcode = this.#make(message)
      answer(signedAnswer(wire, this.#settings, { flags: UPDATE_ANSWER | rcode, seconds: this.#seconds() }))
    })
  }

  /** An event of the same moment keeps its order on the timeline. */
  #makeInOrder(make: () => void): void {
    this.#timeline.after(Math.max(0, this.#queuedUntil - this.#timeline.now()), make)
  }

  #seconds(): number {
    return Math.floor(this.#timeline.now() / 1000) + this.skewSeconds
  }

  #make({ answers: prerequisites, authority: changes }: Message): number {
    const exact = new Map<string, Set<string>>()
    for (const { owner, type, class: of, rdata } of prerequisites) {
      const key = `${owner} ${type}`
      if (of === CLASS_NONE && type === 'ANY' && this.#isInUse(owner)) return YXDOMAIN
      if (of === CLASS_NONE && type !== 'ANY' && this.#sets.has(key)) return YXRRSET
      if (of === CLASS_IN) exact.set(key, (exact.get(key) ?? new Set()).add(rdata.toString('hex')))
    }
    for (const [key, values] of exact) {
      const found = new Set(this.#sets.get(key)?.keys() ?? [])
      if (found.symmetricDifference(values).size > 0) return NXRRSET
    }
    for (const { owner, type, class: of, ttl, rdata } of changes) {
      const key = `${owner} ${type}`
      const values = new Map(of === CLASS_ANY ? [] : this.#sets.get(key))
      if (of === CLASS_IN) values.set(rdata.toString('hex'), ttl)
      if (of === CLASS_NONE) values.delete(rdata.toString('hex'))
      this.#put(key, values)
    }
    this.onChange()
    return NOERROR
  }

  #put(key: string, values: Rdata): void {
    if (values.size === 0) this.#sets.delete(key)
    else this.#sets.set(key, values)
  }

  #isInUse(name: string): boolean {
    return name === this.#zone || [...this.#sets.keys()].some((key) => key.startsWith(`${name} `))
  }

  #answerTo(wire: Buffer, { id, questions: [question] }: Message): Buffer {
    const { name = '', type = '' } = question ?? {}
    const found = [...(this.#sets.get(`${name} ${type}`) ?? [])]
    const rcode = found.length > 0 || this.#isInUse(name) ? NOERROR : NXDOMAIN
    const records = found.map(([hex, ttl]) =>
      encodeRecord({ owner: name, type, class: CLASS_IN, ttl, rdata: Buffer.from(hex, 'hex') }),
    )
    return Buffer.concat([u16(id, ANSWER | rcode, 1, records.length, 0, 0), wire.subarray(12), ...records])
  }
}
