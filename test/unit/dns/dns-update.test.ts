import { describe, expect, test } from 'vitest'
import { decodeMessage } from '../../../src/dns/wire/message.ts'
import { UnaskableName } from '../../../src/dns/wire/name.ts'
import { decodeRdata, encodeRdata, textOf, UnwritableValue } from '../../../src/dns/wire/rdata.ts'
import { adds, deletes, encodeUpdate, nameNotInUse, rrsetAbsent, rrsetIs } from '../../../src/dns/wire/update.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

describe('the value of a record', () => {
  test.each([
    ['A', '127.0.45.23', '7f002d17'],
    ['AAAA', '::', '00'.repeat(16)],
    ['AAAA', '::1', `${'00'.repeat(15)}01`],
    ['AAAA', 'fe80::', `fe80${'00'.repeat(14)}`],
    ['AAAA', '2001:DB8::45:0:23', '20010db8000000000000004500000023'],
    ['AAAA', '1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['CNAME', 'Edge.lab.test', '0465646765036c6162047465737400'],
    ['TXT', '', '00'],
    ['TXT', 'ab', '026162'],
  ] as const)('%s %s', (type, value, octets) => {
    expect(encodeRdata({ type, value }).toString('hex')).toBe(octets)
    expect(encodeRdata({ type, value: decodeRdata(type, hex(octets)) ?? '' }).toString('hex')).toBe(octets)
  })

  test.each([255, 256, 300, 510, 511])('TXT of %i octets is cut into strings and read as one text', (length) => {
    const value = 'x'.repeat(length)
    const rdata = encodeRdata({ type: 'TXT', value })
    expect(rdata).toHaveLength(length + Math.ceil(length / 255))
    expect(textOf(rdata)?.toString()).toBe(value)
  })

  test('a text that claims more than there is, or nothing at all, is none', () => {
    expect(textOf(hex('03 6162'))).toBeUndefined()
    expect(textOf(Buffer.alloc(0))).toBeUndefined()
  })

  const WRONG = { A: ['127.1', '::1'], AAAA: ['127.0.0.1', '::ffff:127.0.0.1'], TXT: ['x'.repeat(65_536)] }
  test.each(Object.entries(WRONG) as ['A', string[]][])('%s cannot be another kind of value', (type, values) => {
    for (const value of values) expect(() => encodeRdata({ type, value }), value.slice(0, 20)).toThrow(UnwritableValue)
  })

  test.each([
    ['a text in strings that are not full', 'TXT', '01 61 01 62'],
    ['a text that is not UTF-8', 'TXT', '01 ff'],
    ['a text that ends too early', 'TXT', '03 6162'],
    ['an IPv4 address mapped to IPv6', 'AAAA', `${'00'.repeat(10)} ffff 7f000001`],
    ['an address of another length', 'A', '7f0000'],
    ['an IPv6 address as A', 'A', '00'.repeat(16)],
    ['a name with a dot in a label', 'CNAME', '03 612e62 00'],
    ['a name with a space', 'CNAME', '03 612062 00'],
    ['a name that ends too early', 'CNAME', '03 61'],
  ] as const)('is not read from %s, which would not be written again', (_, type, octets) =>
    expect(decodeRdata(type, hex(octets))).toBeUndefined(),
  )

  test('CNAME is a name without a trailing dot', () =>
    expect(() => encodeRdata({ type: 'CNAME', value: 'edge.lab.test.' })).toThrow(UnaskableName))
})

const record = { name: 'a.test', type: 'A', ttl: 60, value: '127.0.0.1' } as const

test('an update has the octets that RFC 2136 says', () => {
  const prerequisites = [nameNotInUse('a.test'), rrsetAbsent('a.test', 'CNAME'), rrsetIs(record)]
  const changes = [adds(record), deletes(record)]
  const name = '01 61 04 74657374 00'
  expect(encodeUpdate(0xabcd, { zone: 'test', prerequisites, changes })).toEqual(
    hex(`abcd 2800 0001 0003 0002 0000 04 74657374 00 0006 0001
        ${name} 00ff 00fe 00000000 0000
        ${name} 0005 00fe 00000000 0000
        ${name} 0001 0001 00000000 0004 7f000001
        ${name} 0001 0001 0000003c 0004 7f000001
        ${name} 0001 00fe 00000000 0004 7f000001`),
  )
})

test('an update is read back by our own reader', () => {
  const message = decodeMessage(encodeUpdate(1, { zone: 'lab.test', prerequisites: [], changes: [adds(record)] }))
  expect(message).toMatchObject({
    opcode: 5,
    questions: [{ name: 'lab.test', type: 'SOA' }],
    authority: [{ ttl: 60 }],
  })
})
