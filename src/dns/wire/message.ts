import { Cursor, MalformedMessage, u16 } from './bytes.ts'
import { encodeName, readName } from './name.ts'
import { readRecord, type WireRecord } from './record.ts'
import { CLASS_IN, typeName, typeNumber } from './record-types.ts'

const RCODES = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  'YXDOMAIN',
  'YXRRSET',
  'NXRRSET',
  'NOTAUTH',
  'NOTZONE',
]

const RESPONSE = 0x8000
const AUTHORITATIVE = 0x0400
const TRUNCATED = 0x0200
const RECURSION_DESIRED = 0x0100
const RECURSION_AVAILABLE = 0x0080

interface Question {
  readonly name: string
  readonly type: string
  readonly class: number
}

export interface Message {
  readonly id: number
  readonly response: boolean
  readonly opcode: number
  readonly authoritative: boolean
  readonly truncated: boolean
  readonly recursionAvailable: boolean
  readonly rcode: string
  readonly questions: readonly Question[]
  readonly answers: readonly WireRecord[]
  readonly authority: readonly WireRecord[]
  readonly additional: readonly WireRecord[]
}

export interface Query {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly recursive: boolean
}

/** Throws `UnaskableName` for a name or type that a message cannot contain. */
export function encodeQuery({ id, name, type, recursive }: Query): Buffer {
  const flags = recursive ? RECURSION_DESIRED : 0
  return Buffer.concat([u16(id, flags, 1, 0, 0, 0), encodeName(name), u16(typeNumber(type), CLASS_IN)])
}

/**
 * Throws `MalformedMessage`, and no other error, for bytes that are not a message. Of a truncated message it reads only the
 * header and the question, because the rest is not reliable.
 */
export function decodeMessage(bytes: Buffer): Message {
  const cursor = new Cursor(bytes)
  const id = cursor.u16()
  const flags = cursor.u16()
  const truncated = (flags & TRUNCATED) !== 0
  const counts = [cursor.u16(), cursor.u16(), cursor.u16(), cursor.u16()] as const
  const section = (count: number) => readEach(truncated ? 0 : count, () => readRecord(cursor))
  return {
    id,
    response: (flags & RESPONSE) !== 0,
    opcode: (flags >> 11) & 15,
    authoritative: (flags & AUTHORITATIVE) !== 0,
    truncated,
    recursionAvailable: (flags & RECURSION_AVAILABLE) !== 0,
    rcode: RCODES[flags & 15] ?? `RCODE${flags & 15}`,
    questions: readEach(counts[0], () => readQuestion(cursor)),
    answers: section(counts[1]),
    authority: section(counts[2]),
    additional: section(counts[3]),
  }
}

/** Undefined for bytes that are not a message. */
export function decodeMessageOrUndefined(bytes: Buffer): Message | undefined {
  try {
    return decodeMessage(bytes)
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined
    throw error
  }
}

function readQuestion(cursor: Cursor): Question {
  return { name: readName(cursor), type: typeName(cursor.u16()), class: cursor.u16() }
}

/** A count may be wrong. Entries are read one by one, so that a wrong count ends at the end of the message. */
function readEach<T>(count: number, read: () => T): T[] {
  const entries: T[] = []
  for (let i = 0; i < count; i += 1) entries.push(read())
  return entries
}
