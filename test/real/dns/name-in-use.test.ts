import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dnsReader } from '../../../src/dns/reader.ts'
import { CONFLICTING_TYPES, type NameFact } from '../../../src/model/finding.ts'
import { nameInUse } from '../../../src/observe/name-in-use.ts'
import { startZoneServer, type ZoneServer } from '../../support/dns/zone-server.ts'

const RDATA: Record<(typeof CONFLICTING_TYPES)[number], string> = {
  A: '127.0.45.25',
  AAAA: '::1',
  CNAME: 'ns1',
  TXT: '"a text"',
  MX: '10 ns1',
  SRV: '0 0 443 ns1',
  CAA: '0 issue "ca.lab.test"',
  NS: 'ns.elsewhere.test.',
  HTTPS: '1 . alpn="h2"',
  SVCB: '1 ns1 port="8443"',
}

const LONG_TEXT = Array.from({ length: 12 }, () => `"${'x'.repeat(250)}"`).join(' ')

const ZONES = [
  {
    name: 'plain.test',
    records: [
      ...CONFLICTING_TYPES.map((type) => `has-${type.toLowerCase()} ${type} ${RDATA[type]}`),
      'cname-to-nothing CNAME missing',
      'cname-outside CNAME www.elsewhere.test.',
      'several A 127.0.45.25',
      'several MX 10 ns1',
      'several TXT "v=spf1 -all"',
      'hinfo HINFO "cpu" "os"',
      'private TYPE65280 \\# 2 0102',
      'dname DNAME elsewhere.test.',
      'cut NS ns1.cut',
      'ns1.cut A 127.0.0.1',
      'child NS ns1',
      `long TXT ${LONG_TEXT}`,
      'child.of.empty A 127.0.45.25',
      '*.below A 127.0.45.25',
      'above A 127.0.45.25',
      '*.above A 127.0.45.25',
      '_drawbridge.marked TXT "exposure=1"',
      '_drawbridge.oddly-marked HINFO "cpu" "os"',
      '_drawbridge.cut-mark NS ns.elsewhere.test.',
      'MiXeD A 127.0.45.25',
    ],
  },
  { name: 'child.plain.test', records: ['@ A 127.0.45.25', 'inner A 127.0.45.25', '* TXT "child"'] },
  { name: 'dname.test', records: [] },
  {
    name: 'wild-a.test',
    records: [
      '* A 127.0.45.25',
      '* A 127.0.45.26',
      'same A 127.0.45.25',
      'same A 127.0.45.26',
      'other A 127.0.45.27',
      'same-twice A 127.0.45.25',
      'same-twice A 127.0.45.26',
      '*.same-twice A 127.0.45.25',
      '*.same-twice A 127.0.45.26',
      'hinfo HINFO "cpu" "os"',
      'x.empty A 127.0.45.27',
      '*.stars A 127.0.45.27',
    ],
  },
  { name: 'wild-cname.test', records: ['* CNAME NS1', 'same CNAME ns1'] },
  {
    name: 'wild-dangling.test',
    records: ['* CNAME missing.wild-gone.wild-dangling.test.', 'x.wild-gone A 127.0.45.25'],
  },
  { name: 'wild-outside.test', records: ['* CNAME www.elsewhere.test.', 'same CNAME www.elsewhere.test.'] },
  { name: 'wild-txt.test', records: ['* TXT "any"', 'same TXT "any"', '_drawbridge.marked TXT "any"'] },
  { name: 'wild-hinfo.test', records: ['* HINFO "cpu" "os"', 'same HINFO "cpu" "os"'] },
  { name: 'wild-mixed.test', records: ['* A 127.0.45.25', '* MX 10 ns1', '* TXT "any"'] },
]

let server: ZoneServer
beforeAll(async () => {
  server = await startZoneServer(ZONES)
  // BIND takes no DNAME above a name server of the zone.
  await server.update(
    'dname.test',
    'add dname.test 60 NS ns1.plain.test.',
    'delete dname.test NS ns1.dname.test.',
    'delete dname.test NS ns2.dname.test.',
    `add dname.test 60 DNAME ${'z'.repeat(63)}.${'z'.repeat(63)}.test.`,
  )
})
afterAll(() => server.stop())

const look = (host: string, zone: string): Promise<NameFact> => nameInUse(dnsReader(server), zone, host)

const FREE = { kind: 'free', wildcardTypes: [], emptyNonTerminal: false }
const taken = (at: string, ...types: string[]) => ({ kind: 'taken', by: 'record', types, at })

describe('a name that holds records', () => {
  test.each(CONFLICTING_TYPES)('a record of type %s takes the name and is the only one named', async (type) => {
    const host = `has-${type.toLowerCase()}.plain.test`
    expect(await look(host, 'plain.test')).toEqual({
      kind: 'taken',
      by: type === 'NS' ? 'delegation' : 'record',
      types: [type],
      at: host,
    })
  })

  test.each([
    ['cname-to-nothing', ['CNAME']],
    ['cname-outside', ['CNAME']],
    ['several', ['A', 'TXT', 'MX']],
    ['hinfo', ['HINFO']],
    ['private', ['TYPE65280']],
    ['long', ['TXT']],
    ['mixed', ['A']],
    ['above', ['A']],
  ])('%s.plain.test is taken by %s', async (label, types) => {
    const host = `${label}.plain.test`
    expect(await look(host, 'plain.test')).toEqual(taken(host, ...types))
  })
})

describe('a name that is free', () => {
  test('one that nobody uses', async () => {
    expect(await look('nobody.plain.test', 'plain.test')).toEqual(FREE)
  })

  test.each(['empty.plain.test', 'of.empty.plain.test', 'below.plain.test'])(
    '%s has children but no records',
    async (host) => {
      expect(await look(host, 'plain.test')).toEqual({ ...FREE, emptyNonTerminal: true })
    },
  )

  test('a name as long as DNS allows cannot carry the owner mark, and that is told', async () => {
    const host = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(45)}.plain.test`
    expect(await look(host, 'plain.test')).toEqual({
      kind: 'unknown',
      reason: expect.stringContaining('too long'),
    })
  })
})

describe('a name that lies elsewhere', () => {
  test.each([
    ['cut.plain.test', 'cut.plain.test'],
    ['www.cut.plain.test', 'cut.plain.test'],
    ['child.plain.test', 'child.plain.test'],
    ['nobody.child.plain.test', 'child.plain.test'],
    ['inner.child.plain.test', 'child.plain.test'],
    ['cut-mark.plain.test', '_drawbridge.cut-mark.plain.test'],
  ])('%s is delegated at %s', async (host, at) => {
    expect(await look(host, 'plain.test')).toEqual({ kind: 'taken', by: 'delegation', types: ['NS'], at })
  })

  test.each([
    ['dname.plain.test', 'plain.test', 'dname.plain.test'],
    ['www.dname.plain.test', 'plain.test', 'dname.plain.test'],
    ['nobody.dname.test', 'dname.test', 'dname.test'],
    // Too long for the DNAME's target: the answer is YXDOMAIN.
    [`${'y'.repeat(60)}.${'x'.repeat(60)}.dname.test`, 'dname.test', 'dname.test'],
  ])('%s in %s is redirected at %s', async (host, zone, at) => {
    expect(await look(host, zone)).toEqual({ kind: 'taken', by: 'dname', types: ['DNAME'], at })
  })
})

describe('a wildcard is not a record of the name', () => {
  test.each([
    ['wild-a.test', ['A']],
    ['wild-cname.test', ['CNAME']],
    ['wild-dangling.test', ['CNAME']],
    ['wild-outside.test', ['CNAME']],
    ['wild-txt.test', ['TXT']],
    ['wild-hinfo.test', ['HINFO']],
    ['wild-mixed.test', ['A', 'TXT', 'MX']],
  ])('in %s it answers with %s and leaves the name free', async (zone, wildcardTypes) => {
    expect(await look(`nobody.${zone}`, zone)).toEqual({ ...FREE, wildcardTypes })
  })

  test.each([
    ['same.wild-a.test', 'wild-a.test', 'A'],
    ['other.wild-a.test', 'wild-a.test', 'A'],
    ['same-twice.wild-a.test', 'wild-a.test', 'A'],
    ['hinfo.wild-a.test', 'wild-a.test', 'HINFO'],
    ['same.wild-cname.test', 'wild-cname.test', 'CNAME'],
    ['same.wild-outside.test', 'wild-outside.test', 'CNAME'],
    ['same.wild-txt.test', 'wild-txt.test', 'TXT'],
    ['same.wild-hinfo.test', 'wild-hinfo.test', 'HINFO'],
  ])('%s beside it is taken by its own record', async (host, zone, type) => {
    expect(await look(host, zone)).toEqual(taken(host, type))
  })

  test.each(['empty.wild-a.test', 'stars.wild-a.test'])('%s with children is out of its reach', async (host) => {
    expect(await look(host, 'wild-a.test')).toEqual({ ...FREE, emptyNonTerminal: true })
  })
})

describe('the owner mark', () => {
  test.each([
    ['marked.plain.test', 'plain.test', 'TXT'],
    ['oddly-marked.plain.test', 'plain.test', 'HINFO'],
    ['marked.wild-txt.test', 'wild-txt.test', 'TXT'],
  ])('%s is taken when its mark exists', async (host, zone, type) => {
    expect(await look(host, zone)).toEqual({
      kind: 'taken',
      by: 'owner_mark',
      types: [type],
      at: `_drawbridge.${host}`,
    })
  })
})

test('a server that does not serve the zone leaves the name unknown', async () => {
  expect(await look('www.absent.test', 'absent.test')).toEqual({
    kind: 'unknown',
    reason: expect.stringMatching(/^127\.0\.0\.1:\d+ answered REFUSED to /),
  })
  expect(await look('www.deeper.plain.test', 'deeper.plain.test')).toMatchObject({ kind: 'unknown' })
})
