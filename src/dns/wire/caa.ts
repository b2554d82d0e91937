import type { CaaProperty } from '../contract.ts'
import { Cursor, MalformedMessage } from './cursor.ts'

const CRITICAL = 0x80

/** The property in a CAA record's rdata (RFC 8659 section 4.1). */
export function decodeCaa(rdata: Buffer): CaaProperty {
  const cursor = new Cursor(rdata)
  const flags = cursor.u8()
  const tag = cursor.bytes(cursor.u8()).toString('latin1')
  if (!/^[A-Za-z0-9]+$/.test(tag)) throw new MalformedMessage('a CAA tag is not made of letters and digits')
  const value = rdata.subarray(cursor.offset).toString('latin1')
  return { critical: (flags & CRITICAL) !== 0, tag: tag.toLowerCase(), value }
}
