import type { DnsTransport, TcpOutcome } from '../../src/dns/transport.ts'
import { TsigKey, type TsigKeySettings } from '../../src/dns/tsig.ts'
import { u16, u32, u48 } from '../../src/dns/wire/bytes.ts'
import { decodeMessage, type Message } from '../../src/dns/wire/message.ts'
import { decodeRdata, encodeRdata } from '../../src/dns/wire/rdata.ts'
import { encodeRecord } from '../../src/dns/wire/record.ts'
import { splitTsig, tsigVariables } from '../../src/dns/wire/tsig.ts'
import { OPCODE_UPDATE } from '../../src/dns/wire/update.ts'
import type { ZoneRecord } from '../../src/model/receipt.ts'
import { signedAnswer, unsignedAnswer } from '../support/dns/tsig-answer.ts'
import type { Process } from './process.ts'
import type { Timeline } from './timeline.ts'

const [NOERROR, NXDOMAIN, REFUSED, YXDOMAIN, YXRRSET, NXRRSET, NOTAUTH, NOTZONE] = [0, 3, 5, 6, 7, 8, 9, 10]
const [CLASS_IN, CLASS_NONE, CLASS_ANY] = [1, 254, 255]
const [BADSIG, BADKEY, BADTIME] = [16, 17, 18]
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
  /** Grows with each update that changed something. */
  serial = 1
  readonly #timeline: Pick<Timeline, 'now' | 'after'>
  readonly #zone: string
  readonly #key: TsigKeySettings
  readonly #stranger: TsigKeySettings | undefined
  /** By name and type: the values in hex, with their times to live. */
  readonly #sets = new Map<string, Rdata>()
  #stalls: { readonly kind: StallKind; readonly ms: number; afterMessages: number }[] = []
  #frozenUntil = 0
  #queuedUntil = 0

  /** `stranger`: a key that it knows, and that may change nothing. */
  constructor(
    timeline: Pick<Timeline, 'now' | 'after'>,
    zone: string,
    key: TsigKeySettings,
    stranger?: TsigKeySettings,
  ) {
    this.#timeline = timeline
    this.#zone = zone
    this.#key = key
    this.#stranger = stranger
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
        this.#timeline.after(this.wireMs, () => this.receive(wire, answer))
        const outcome = await promise
        cancel()
        await process.awake()
        process.point('hear from the name server')
        return outcome
      },
    }
  }

  /** A message has arrived over a connection. */
  receive(wire: Buffer, answer: (bytes: Buffer) => void): void {
    this.#beginStalls()
    this.#read({ wire, answer })
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
    if (!signed) return void answer(unsignedAnswer(wire, UPDATE_ANSWER | REFUSED))
    const { tsig } = signed
    const settings = [this.#key, this.#stranger].find((one) => one?.name === tsig.key)
    const refuse = (error: number) =>
      answer(
        signedAnswer(
          wire,
          { ...this.#key, name: tsig.key, algorithm: tsig.algorithm as TsigKeySettings['algorithm'] },
          { flags: UPDATE_ANSWER | NOTAUTH, error, macLength: 0 },
        ),
      )
    if (!settings || settings.algorithm !== tsig.algorithm) return void refuse(BADKEY)
    if (!new TsigKey(settings).mac(signed.message, tsigVariables(tsig)).equals(tsig.mac)) return void refuse(BADSIG)
    const seconds = this.#seconds()
    if (Math.abs(seconds - tsig.time) > tsig.fudge) {
      const time = { seconds: tsig.time, fudge: tsig.fudge, other: u48(seconds) }
      return void answer(signedAnswer(wire, settings, { flags: UPDATE_ANSWER | NOTAUTH, error: BADTIME, ...time }))
    }
    this.#makeInOrder(() => {
      const rcode = settings === this.#key ? this.#make(message) : REFUSED
      answer(signedAnswer(wire, settings, { flags: UPDATE_ANSWER | rcode, seconds: this.#seconds() }))
    })
  }

  /** An event of the same moment keeps its order on the timeline. */
  #makeInOrder(make: () => void): void {
    this.#timeline.after(Math.max(0, this.#queuedUntil - this.#timeline.now()), make)
  }

  #seconds(): number {
    return Math.floor(this.#timeline.now() / 1000) + this.skewSeconds
  }

  /** RFC 2136, section 3. */
  #make({ answers: prerequisites, authority: changes }: Message): number {
    if ([...prerequisites, ...changes].some(({ owner }) => !`.${owner}`.endsWith(`.${this.#zone}`))) return NOTZONE
    const refused = this.#unmet(prerequisites)
    if (refused !== undefined) return refused
    const before = this.serial
    for (const { owner, type, class: of, ttl, rdata } of changes) {
      const keys = type === 'ANY' ? this.#keysOf(owner) : [`${owner} ${type}`]
      for (const key of keys) {
        const hex = rdata.toString('hex')
        const values = new Map(of === CLASS_ANY ? [] : this.#sets.get(key))
        if (of === CLASS_NONE) values.delete(hex)
        if (of === CLASS_IN && this.#isIgnored(owner, type)) continue
        // A set has one time to live, and an alias one target.
        const others = type === 'CNAME' ? [] : [...values.keys()]
        const added = new Map([...others, hex].map((each) => [each, ttl]))
        this.#put(key, of === CLASS_IN ? added : values)
      }
    }
    if (this.serial !== before) this.onChange()
    return NOERROR
  }

  #unmet(prerequisites: Message['answers']): number | undefined {
    const exact = new Map<string, Set<string>>()
    for (const { owner, type, class: of, rdata } of prerequisites) {
      const key = `${owner} ${type}`
      const stands = type === 'ANY' ? this.#isInUse(owner) : this.#sets.has(key)
      if (of === CLASS_NONE && stands) return type === 'ANY' ? YXDOMAIN : YXRRSET
      if (of === CLASS_ANY && !stands) return type === 'ANY' ? NXDOMAIN : NXRRSET
      if (of === CLASS_IN) exact.set(key, (exact.get(key) ?? new Set()).add(rdata.toString('hex')))
    }
    for (const [key, values] of exact) {
      const found = new Set(this.#sets.get(key)?.keys() ?? [])
      if (found.symmetricDifference(values).size > 0) return NXRRSET
    }
    return undefined
  }

  /** Nothing stands beside an alias: what would is left out without a word. */
  #isIgnored(owner: string, type: string): boolean {
    const standing = this.#keysOf(owner)
    return type === 'CNAME' ? standing.some((key) => key !== `${owner} CNAME`) : this.#sets.has(`${owner} CNAME`)
  }

  #put(key: string, values: Rdata): void {
    const former = this.#sets.get(key) ?? new Map()
    if (former.size === values.size && [...values].every(([hex, ttl]) => former.get(hex) === ttl)) return
    this.serial += 1
    if (values.size === 0) this.#sets.delete(key)
    else this.#sets.set(key, values)
  }

  #keysOf(name: string): string[] {
    return [...this.#sets.keys()].filter((key) => key.startsWith(`${name} `))
  }

  #isInUse(name: string): boolean {
    return name === this.#zone || this.#keysOf(name).length > 0
  }

  /** Whether the name, or a name below it, has a record. */
  #exists(name: string): boolean {
    return this.#isInUse(name) || [...this.#sets.keys()].some((key) => key.split(' ')[0]?.endsWith(`.${name}`))
  }

  /** The name whose records answer for a name: itself, or the wildcard below the closest name that exists (RFC 4592). */
  #sourceOf(name: string): string | undefined {
    if (this.#exists(name)) return name
    let closest = name
    do closest = closest.slice(closest.indexOf('.') + 1)
    while (closest.includes('.') && !this.#exists(closest))
    return this.#isInUse(`*.${closest}`) ? `*.${closest}` : undefined
  }

  #answerTo(wire: Buffer, { id, questions: [question] }: Message): Buffer {
    const { name = '', type = '' } = question ?? {}
    const source = this.#sourceOf(name)
    const shown = [type, 'CNAME'].find((one) => this.#sets.has(`${source} ${one}`)) ?? type
    const found = [...(this.#sets.get(`${source} ${shown}`) ?? [])].map(([hex, ttl]) => ({
      ...{ owner: name, type: shown, class: CLASS_IN, ttl, rdata: Buffer.from(hex, 'hex') },
    }))
    const soa = {
      owner: name,
      type,
      class: CLASS_IN,
      ttl: 60,
      rdata: Buffer.concat([u16(0), ...[this.serial, 60, 60, 60, 60].map((each) => u32(each))]),
    }
    const records = (name === this.#zone && type === 'SOA' ? [soa] : found).map(encodeRecord)
    const head = u16(id, ANSWER | (source === undefined ? NXDOMAIN : NOERROR), 1, records.length, 0, 0)
    return Buffer.concat([head, wire.subarray(12), ...records])
  }
}
