import type { ZoneRecord } from '../contract.ts'
import { u16 } from './bytes.ts'
import { encodeName } from './name.ts'
import { encodeRdata } from './rdata.ts'
import { encodeRecord, type OutgoingRecord } from './record.ts'
import { CLASS_IN, CLASS_NONE, typeNumber } from './record-types.ts'

export const OPCODE_UPDATE = 5

/** The changes are made if all prerequisites are true, all or none (RFC 2136). */
export interface Update {
  readonly zone: string
  readonly prerequisites: readonly OutgoingRecord[]
  readonly changes: readonly OutgoingRecord[]
}

export function encodeUpdate(id: number, { zone, prerequisites, changes }: Update): Buffer {
  return Buffer.concat([
    u16(id, OPCODE_UPDATE << 11, 1, prerequisites.length, changes.length, 0),
    encodeName(zone),
    u16(typeNumber('SOA'), CLASS_IN),
    ...prerequisites.map(encodeRecord),
    ...changes.map(encodeRecord),
  ])
}

/** Prerequisites (section 2.4). */
export const rrsetAbsent = (owner: string, type: string): OutgoingRecord => ({
  owner,
  type,
  class: CLASS_NONE,
  ttl: 0,
  rdata: Buffer.alloc(0),
})
export const nameNotInUse = (owner: string): OutgoingRecord => rrsetAbsent(owner, 'ANY')

/** All such prerequisites for one name and type together: the name has exactly these values. */
export const rrsetIs = (record: ZoneRecord): OutgoingRecord => ({ ...outgoing(record), ttl: 0 })

/** Changes (section 2.5). */
export const adds = (record: ZoneRecord): OutgoingRecord => outgoing(record)
export const deletes = (record: ZoneRecord): OutgoingRecord => ({ ...outgoing(record), class: CLASS_NONE, ttl: 0 })

const outgoing = (record: ZoneRecord): OutgoingRecord => ({
  owner: record.name,
  type: record.type,
  class: CLASS_IN,
  ttl: record.ttl,
  rdata: encodeRdata(record),
})
