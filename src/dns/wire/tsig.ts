import { Cursor, MalformedMessage, u16, u48 } from './bytes.ts'
import { encodeName, readName } from './name.ts'
import { encodeRecord, readRecord } from './record.ts'
import { CLASS_ANY } from './record-types.ts'

const ADDITIONAL_COUNT = 10

/** The rdata of a TSIG record (RFC 8945 section 4.2). */
export interface Tsig {
  readonly key: string
  readonly algorithm: string
  /** Seconds since 1970. */
  readonly time: number
  readonly fudge: number
  readonly mac: Buffer
  readonly originalId: number
  readonly error: number
  readonly other: Buffer
}

/** The data that a signature covers in addition to the message (section 4.3.3). */
export const tsigVariables = ({
  key,
  algorithm,
  time,
  fudge,
  error,
  other,
}: Omit<Tsig, 'mac' | 'originalId'>): Buffer =>
  Buffer.concat([
    encodeName(key),
    u16(CLASS_ANY, 0, 0),
    encodeName(algorithm),
    u48(time),
    u16(fudge, error, other.length),
    other,
  ])

/** Adds the TSIG record as the last record. */
export function appendTsig(message: Buffer, tsig: Tsig): Buffer {
  const { key, algorithm, time, fudge, mac, originalId, error, other } = tsig
  const rdata = Buffer.concat([
    encodeName(algorithm),
    u48(time),
    u16(fudge, mac.length),
    mac,
    u16(originalId, error, other.length),
    other,
  ])
  const record = encodeRecord({ owner: key, type: 'TSIG', class: CLASS_ANY, ttl: 0, rdata })
  const signed = Buffer.concat([message, record])
  signed.writeUInt16BE(signed.readUInt16BE(ADDITIONAL_COUNT) + 1, ADDITIONAL_COUNT)
  return signed
}

/** The TSIG record of a message, and the message without it. */
export interface SplitMessage {
  readonly message: Buffer
  readonly tsig: Tsig
}

/**
 * Undefined when the last record is not a TSIG record: the message is not signed. Throws `MalformedMessage`, and no other
 * error, for bytes that are not a message, or for bytes after the last record: no signature covers them.
 */
export function splitTsig(bytes: Buffer): SplitMessage | undefined {
  const cursor = new Cursor(bytes, 4)
  const [questions, answers, authority, additional] = [cursor.u16(), cursor.u16(), cursor.u16(), cursor.u16()]
  for (let i = 0; i < questions; i += 1) skipQuestion(cursor)
  for (let i = 0; i < answers + authority + additional - 1; i += 1) readRecord(cursor)
  if (additional === 0) return undefined
  const start = cursor.offset
  const tsig = readTsig(cursor)
  if (cursor.offset !== bytes.length) throw new MalformedMessage('the message has bytes after its last record')
  if (!tsig) return undefined
  const message = Buffer.from(bytes.subarray(0, start))
  message.writeUInt16BE(tsig.originalId, 0)
  message.writeUInt16BE(additional - 1, ADDITIONAL_COUNT)
  return { message, tsig }
}

function skipQuestion(cursor: Cursor): void {
  readName(cursor)
  cursor.bytes(4)
}

function readTsig(cursor: Cursor): Tsig | undefined {
  const { owner, type, class: recordClass, ttl, rdata } = readRecord(cursor)
  if (type !== 'TSIG') return undefined
  if (recordClass !== CLASS_ANY || ttl !== 0) throw new MalformedMessage('a TSIG record of another class or with a TTL')
  const inside = new Cursor(rdata)
  const algorithm = readName(inside)
  const time = inside.u16() * 2 ** 32 + inside.u32()
  const fudge = inside.u16()
  const mac = inside.bytes(inside.u16())
  const tsig = { key: owner, algorithm, time, fudge, mac, originalId: inside.u16(), error: inside.u16() }
  const other = inside.bytes(inside.u16())
  if (inside.offset !== rdata.length) throw new MalformedMessage('a TSIG record is longer than its length field')
  return { ...tsig, other }
}
