import { isIPv4 } from 'node:net'
import { parseAddress } from '../../model/address.ts'
import type { CaaProperty, ZoneRecord } from '../contract.ts'
import { Cursor, MalformedMessage, u16 } from './bytes.ts'
import { encodeName, readName, UnaskableName } from './name.ts'

const MAX_STRING_LENGTH = 255
const MAX_RDATA_LENGTH = 0xffff

/** A value that its record type cannot contain, such as a name in an A record. */
export class UnwritableValue extends Error {
  override readonly name = 'UnwritableValue'
}

/** Comparable with the `rdata` of a DnsRecord. Throws `UnwritableValue` or `UnaskableName`. */
export function encodeRdata({ type, value }: Pick<ZoneRecord, 'type' | 'value'>): Buffer {
  switch (type) {
    case 'A':
      return ipv4(value)
    case 'AAAA':
      return ipv6(value)
    case 'CNAME':
      return encodeName(value)
    case 'TXT':
      return strings(Buffer.from(value))
  }
}

/**
 * The value for which `encodeRdata` gives exactly this rdata. Undefined if there is none: a text in other strings than ours or
 * not in UTF-8, a name that needs escaping, an IPv4 address mapped to IPv6.
 */
export function decodeRdata(type: ZoneRecord['type'], rdata: Buffer): string | undefined {
  try {
    const value = valueFrom(type, rdata)
    return value !== undefined && encodeRdata({ type, value }).equals(rdata) ? value : undefined
  } catch (error) {
    if (error instanceof UnwritableValue || error instanceof UnaskableName || error instanceof MalformedMessage)
      return undefined
    throw error
  }
}

function valueFrom(type: ZoneRecord['type'], rdata: Buffer): string | undefined {
  switch (type) {
    case 'A':
    case 'AAAA':
      return addressIn(rdata)
    case 'CNAME':
      return readName(new Cursor(rdata))
    case 'TXT':
      return textOf(rdata)?.toString()
  }
}

/** The text of a TXT record. Its division into strings has no meaning. Undefined for malformed rdata. */
export function textOf(rdata: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = 0; at < rdata.length; ) {
    const end = at + 1 + rdata.readUInt8(at)
    if (end > rdata.length) return undefined
    parts.push(rdata.subarray(at + 1, end))
    at = end
  }
  return parts.length === 0 ? undefined : Buffer.concat(parts)
}

/** The address of an A or AAAA record; undefined for rdata of another length. */
export function addressIn(rdata: Buffer): string | undefined {
  if (rdata.length === 4) return [...rdata].join('.')
  if (rdata.length !== 16) return undefined
  const groups = Array.from({ length: 8 }, (_, i) => rdata.readUInt16BE(2 * i).toString(16))
  return parseAddress(groups.join(':'))
}

function ipv4(value: string): Buffer {
  if (!isIPv4(value)) throw new UnwritableValue(`${JSON.stringify(value)} is not an IPv4 address`)
  return Buffer.from(value.split('.').map(Number))
}

function ipv6(value: string): Buffer {
  const address = parseAddress(value)
  if (!address?.includes(':')) throw new UnwritableValue(`${JSON.stringify(value)} is not an IPv6 address`)
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return u16(...[...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16)))
}

function strings(text: Buffer): Buffer {
  const count = Math.max(1, Math.ceil(text.length / MAX_STRING_LENGTH))
  const parts = Array.from({ length: count }, (_, i) => {
    const part = text.subarray(i * MAX_STRING_LENGTH, (i + 1) * MAX_STRING_LENGTH)
    return Buffer.concat([Buffer.from([part.length]), part])
  })
  const rdata = Buffer.concat(parts)
  if (rdata.length > MAX_RDATA_LENGTH)
    throw new UnwritableValue(`a text of ${text.length} octets is too long for a TXT record`)
  return rdata
}

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
