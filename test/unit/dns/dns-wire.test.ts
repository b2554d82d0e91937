import { describe, expect, test } from 'vitest'
import { Cursor, MalformedMessage } from '../../../src/dns/wire/bytes.ts'
import { decodeMessage, encodeQuery } from '../../../src/dns/wire/message.ts'
import { encodeName, readName, UnaskableName } from '../../../src/dns/wire/name.ts'
import { typeName, typeNumber } from '../../../src/dns/wire/record-types.ts'
import { CONFLICTING_TYPES } from '../../../src/model/finding.ts'
import { fc, forAll, forSome } from '../../support/fast-check.ts'

const hex = (...parts: string[]): Buffer => Buffer.from(parts.join('').replaceAll(' ', ''), 'hex')

/** app.lab.test A? with one question; the name stands at octet 12. */
const QUESTION = '03 617070 03 6c6162 04 74657374 00 0001 0001'
const header = (flags: string, ...counts: string[]) => `1234 ${flags} ${counts.join(' ')}`
const ONE_ANSWER = header('8400', '0001', '0001', '0000', '0000')

const decodesOrIsMalformed = (bytes: Buffer): void => {
  try {
    decodeMessage(bytes)
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedMessage)
  }
}

describe('a query', () => {
  test('has the octets that RFC 1035 says', () => {
    const wire = encodeQuery({ id: 0x1234, name: 'app.lab.test', type: 'A', recursive: false })
    expect(wire).toEqual(hex(header('0000', '0001', '0000', '0000', '0000'), QUESTION))
  })

  test('asks for recursion only when told to', () => {
    const wire = encodeQuery({ id: 1, name: 'lab.test', type: 'CAA', recursive: true })
    expect(wire.readUInt16BE(2)).toBe(0x0100)
  })

  test('is read back as what was asked', () => {
    const label = fc.stringMatching(/^[a-z0-9_*-]{1,20}$/)
    const name = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join('.'))
    const type = fc.constantFrom(...CONFLICTING_TYPES, 'SOA', 'ANY', 'TYPE65280')
    forAll(fc.nat(0xffff), name, type, (id, name, type) => {
      const message = decodeMessage(encodeQuery({ id, name, type, recursive: false }))
      expect(message).toMatchObject({ id, response: false, questions: [{ name, type, class: 1 }], answers: [] })
    })
  })
})

describe('a name', () => {
  test.each([
    ['a label over 63 octets', `${'a'.repeat(64)}.test`],
    ['over 255 octets in all', Array.from({ length: 64 }, () => 'abc').join('.')],
    ['an empty label', 'a..test'],
    ['a trailing dot', 'a.test.'],
    ['an escape', 'a\\.b.test'],
    ['a space', 'a b.test'],
    ['letters beyond ASCII', 'bücher.test'],
  ])('with %s cannot be asked for', (_, name) => expect(() => encodeName(name)).toThrow(UnaskableName))

  test('of exactly 255 octets can', () => {
    const name = [63, 63, 63, 61].map((length) => 'a'.repeat(length)).join('.')
    expect(encodeName(name)).toHaveLength(255)
    expect(readName(new Cursor(encodeName(name)))).toBe(name)
  })

  test('is read in lower case, and odd octets cannot pass for dots', () => {
    const wire = hex('03 417050', '05 612e625c00', '00')
    expect(readName(new Cursor(wire))).toBe('app.a\\.b\\\\\\000')
  })

  test.each([
    ['a pointer to itself', hex('c000'), 0],
    ['a pointer forward', hex('c004 0000 0161 00'), 0],
    ['two pointers in a circle', hex('0161 c004 0162 c000'), 4],
    ['a label of unknown kind', hex('40 61 00'), 0],
    ['no end', hex('03 616263'), 0],
    ['a pointer cut in half', hex('c0'), 0],
  ])('with %s is malformed', (_, bytes, offset) =>
    expect(() => readName(new Cursor(bytes, offset))).toThrow(MalformedMessage),
  )

  test('made longer than 255 octets by pointers is malformed', () => {
    const labels = Array.from({ length: 5 }, (_, i) =>
      Buffer.concat([Buffer.from([60]), Buffer.alloc(60, 97), i === 0 ? hex('00') : hex(pointer(firstLabelAt(i - 1)))]),
    )
    expect(() => readName(new Cursor(Buffer.concat(labels), firstLabelAt(4)))).toThrow(MalformedMessage)
  })

  test('behind a long chain of pointers is malformed, so that no message is slow to read', () => {
    const chain = Array.from({ length: 100 }, (_, i) => hex(pointer(i === 0 ? 0 : 2 * i - 1)))
    expect(() => readName(new Cursor(Buffer.concat([hex('00'), ...chain]), 199))).toThrow(MalformedMessage)
  })

  const firstLabelAt = (i: number) => (i === 0 ? 0 : 62 + (i - 1) * 63)
  const pointer = (to: number) => (0xc000 | to).toString(16)
})

describe('a message', () => {
  test('gives answer, authority, flags and rcode', () => {
    const soa = 'c010 0006 0001 0000003c 0016 c010 c010 00000001 00000002 00000003 00000004'
    const address = 'c00c 0001 0001 0000003c 0004 7f002d19'
    const wire = hex(header('8583', '0001', '0001', '0001', '0000'), QUESTION, address, soa, '00000005')
    const message = decodeMessage(wire)
    expect(message).toMatchObject({
      ...{ id: 0x1234, response: true, authoritative: true, truncated: false, recursionAvailable: true },
      ...{ rcode: 'NXDOMAIN', answers: [{ owner: 'app.lab.test', type: 'A', ttl: 60, rdata: hex('7f002d19') }] },
    })
    expect(message.authority.map(({ owner, type }) => [owner, type])).toEqual([['lab.test', 'SOA']])
  })

  test.each([
    ['CNAME', '0005', '0006', '034e5331 c010', '036e7331 036c6162 0474657374 00'],
    ['MX', '000f', '0008', '000a 034e5331 c010', '000a 036e7331 036c6162 0474657374 00'],
    ['SRV', '0021', '000c', '0000 0000 01bb 034e5331 c010', '0000 0000 01bb 036e7331 036c6162 0474657374 00'],
  ])(
    'gives %s data uncompressed and in lower case, so that equal data are equal octets',
    (type, number, length, rdata, plain) => {
      const { answers } = decodeMessage(hex(ONE_ANSWER, QUESTION, `c00c ${number} 0001 0000003c ${length}`, rdata))
      expect(answers).toMatchObject([{ type, rdata: hex(plain) }])
    },
  )

  test('gives a CAA property', () => {
    const { answers } = decodeMessage(hex(ONE_ANSWER, QUESTION, 'c00c 0101 0001 0000003c 000a 80 05 4973737565 3b2061'))
    expect(answers[0]?.caa).toEqual({ critical: true, tag: 'issue', value: '; a' })
  })

  test.each([
    ['an empty CAA tag', '0101', '0002', '00 00'],
    ['a CAA tag longer than the record', '0101', '0003', '00 05 61'],
    ['a name that runs out of its record', '0005', '0002', '0361 6263 00'],
    ['data that runs out of the message', '0001', '0004', '7f00'],
  ])('with %s is malformed', (_, type, length, rdata) => {
    const bytes = hex(ONE_ANSWER, QUESTION, `c00c ${type} 0001 0000003c ${length}`, rdata)
    expect(() => decodeMessage(bytes)).toThrow(MalformedMessage)
  })

  test('that is truncated is read as far as its question', () => {
    const message = decodeMessage(hex(header('8600', '0001', 'ffff', '0000', '0000'), QUESTION, 'c0'))
    expect(message).toMatchObject({ truncated: true, questions: [{ name: 'app.lab.test' }], answers: [] })
  })

  test('of any octets is decoded or malformed, never another error', () =>
    forSome(2_000, fc.uint8Array({ maxLength: 600 }), (bytes) => decodesOrIsMalformed(Buffer.from(bytes))))

  test('that was sound, with any octets changed or cut off, is decoded or malformed', () => {
    const records = 'c00c 0001 0001 0000003c 0004 7f002d19 c00c 000f 0001 0000003c 0008 000a 034e5331 c010'
    const property = 'c00c 0101 0001 0000003c 0008 00 05 6973737565 3b'
    const sound = hex(header('8400', '0001', '0002', '0001', '0000'), QUESTION, records, property)
    expect(decodeMessage(sound).authority).toHaveLength(1)
    const edit = fc.tuple(fc.nat(sound.length - 1), fc.nat(255))
    forSome(3_000, fc.array(edit, { maxLength: 8 }), fc.nat(sound.length), (edits, length) => {
      const bytes = Buffer.from(sound)
      for (const [at, octet] of edits) bytes[at] = octet
      decodesOrIsMalformed(bytes.subarray(0, length))
      decodesOrIsMalformed(bytes)
    })
  })
})

const NUMBERS = {
  A: 1,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  DNAME: 39,
  OPT: 41,
  SSHFP: 44,
  TLSA: 52,
  SVCB: 64,
  HTTPS: 65,
  CAA: 257,
}
test.each(Object.entries({ ...NUMBERS, TYPE65280: 65_280 }))('a record type: %s is %i', (name, number) => {
  expect(typeNumber(name)).toBe(number)
  expect(typeName(number)).toBe(name)
})

test.each(['TYPE65536', 'TYPE', 'toString', 'a', ''])('a record type: %j is none', (name) =>
  expect(() => typeNumber(name)).toThrow(UnaskableName),
)
