import type { DnsRecord } from '../contract.ts'
import { Cursor, MalformedMessage, u16, u32 } from './bytes.ts'
import { encodeName, readName, readNameBytes } from './name.ts'
import { decodeCaa } from './rdata.ts'
import { CLASS_IN, typeName, typeNumber } from './record-types.ts'

export interface WireRecord extends DnsRecord {
  readonly class: number
}

/** The names in the rdata of types that servers compress: the octets before the names, and the number of names. */
const NAMES_IN_RDATA: Readonly<Record<string, { before: number; names: number }>> = {
  NS: { before: 0, names: 1 },
  MD: { before: 0, names: 1 },
  MF: { before: 0, names: 1 },
  CNAME: { before: 0, names: 1 },
  SOA: { before: 0, names: 2 },
  MB: { before: 0, names: 1 },
  MG: { before: 0, names: 1 },
  MR: { before: 0, names: 1 },
  PTR: { before: 0, names: 1 },
  MINFO: { before: 0, names: 2 },
  MX: { before: 2, names: 1 },
  RP: { before: 0, names: 2 },
  AFSDB: { before: 2, names: 1 },
  RT: { before: 2, names: 1 },
  PX: { before: 2, names: 2 },
  SRV: { before: 6, names: 1 },
  KX: { before: 2, names: 1 },
  DNAME: { before: 0, names: 1 },
}

/** A record to send. In an UPDATE its class says what the record means. */
export interface OutgoingRecord {
  readonly owner: string
  readonly type: string
  readonly class: number
  readonly ttl: number
  readonly rdata: Buffer
}

/** Throws `UnaskableName` for an owner that a message cannot contain. */
export function encodeRecord({ owner, type, class: recordClass, ttl, rdata }: OutgoingRecord): Buffer {
  const head = [encodeName(owner), u16(typeNumber(type), recordClass), u32(ttl), u16(rdata.length)]
  return Buffer.concat([...head, rdata])
}

export function readRecord(cursor: Cursor): WireRecord {
  const owner = readName(cursor)
  const type = typeName(cursor.u16())
  const recordClass = cursor.u16()
  const ttl = cursor.u32()
  const length = cursor.u16()
  const rdata = readRdata(cursor, type, length)
  return { owner, type, class: recordClass, ttl, rdata, ...contentOf(type, recordClass, rdata) }
}

/** The decoded parts of the rdata. Rdata may be empty in an UPDATE, under a class of its own. */
function contentOf(type: string, recordClass: number, rdata: Buffer): Pick<DnsRecord, 'caa' | 'target'> {
  if (type === 'CAA' && (recordClass === CLASS_IN || rdata.length > 0)) return { caa: decodeCaa(rdata) }
  return type === 'CNAME' && rdata.length > 0 ? { target: readName(new Cursor(rdata)) } : {}
}

/** Rdata with its names uncompressed and in lower case, so that equal data are equal bytes. */
function readRdata(cursor: Cursor, type: string, length: number): Buffer {
  const end = cursor.offset + length
  const layout = NAMES_IN_RDATA[type]
  // In an UPDATE a record of any type may have empty rdata.
  if (!layout || length === 0) return Buffer.from(cursor.bytes(length))
  const before = cursor.bytes(layout.before)
  const names = Array.from({ length: layout.names }, () => readNameBytes(cursor))
  if (cursor.offset > end) throw new MalformedMessage(`a ${type} record is longer than its length field`)
  return Buffer.concat([before, ...names, cursor.bytes(end - cursor.offset)])
}
