import { createSocket } from 'node:dgram'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { encodeQuery } from '../../../src/dns/wire/message.ts'
import { nameInUse } from '../../../src/observe/name-in-use.ts'
import { FairClock } from '../../../src/primitives/fair-clock.ts'
import { takes } from '../../support/delay.ts'
import {
  type Asked,
  honest,
  type Liar,
  type Lie,
  reply,
  silent,
  startLiar,
  withAnswer,
  withReferral,
} from '../../support/dns/dns-liar.ts'
import { blockFor } from '../../support/programs/block.ts'

const HOST = 'app.lab.test'
const LIMITS = { limitMs: 250, resendAfterMs: 80 }

const look = (server: Pick<Liar, 'address' | 'port'>, limits = LIMITS) =>
  nameInUse(dnsReader(server, limits), 'lab.test', HOST)
/** For answers that come: a busy machine may need long for them. */
const PATIENT = { limitMs: 10_000, resendAfterMs: 80 }

const FREE = { kind: 'free', wildcardTypes: [], emptyNonTerminal: false }
const unknown = (reason: RegExp) => ({ kind: 'unknown', reason: expect.stringMatching(reason) })

const ADDRESS = Buffer.from([127, 0, 45, 25])
const truncated: Lie = ({ query }) => [reply(query, 0x8600)]
const flags =
  (value: number): Lie =>
  ({ query }) => [reply(query, value)]
const otherId = (message: Buffer): Buffer => {
  const bytes = Buffer.from(message)
  bytes.writeUInt16BE(bytes.readUInt16BE(0) ^ 1, 0)
  return bytes
}
const toOtherQuestion = ({ query }: Asked): Buffer =>
  reply(encodeQuery({ id: query.readUInt16BE(0), name: 'other.lab.test', type: 'A', recursive: false }), 0x8403)

test('an honest server leaves the name free', async () => {
  await using liar = await startLiar(honest)
  expect(await look(liar, PATIENT)).toEqual(FREE)
})

describe('an answer that is no certain answer leaves the name unknown', () => {
  test.each<[string, Lie, RegExp]>([
    ['SERVFAIL', flags(0x8402), /answered SERVFAIL to/],
    ['REFUSED', flags(0x8005), /answered REFUSED to/],
    ['NOTAUTH', flags(0x8009), /answered NOTAUTH to/],
    ['NOTIMP', flags(0x8004), /answered NOTIMP to/],
    ['an rcode without a name', flags(0x840f), /answered RCODE15 to/],
    ['NOERROR without authority', flags(0x8000), /answered NOERROR to .* without authority/],
    ['NXDOMAIN without authority', flags(0x8003), /answered NXDOMAIN to .* without authority/],
    ['a referral upwards', ({ query }) => [withReferral(query, 'test')], /without authority/],
    ['a referral to the zone itself', ({ query }) => [withReferral(query, 'lab.test')], /without authority/],
    ['silence', silent, /did not answer .* in time/],
    ['another id', ({ truth }) => [otherId(truth)], /did not answer .* in time/],
    ['the answer to another question', (asked) => [toOtherQuestion(asked)], /did not answer .* in time/],
    ['the question sent back', ({ query }) => [query], /did not answer .* in time/],
    ['noise', () => [Buffer.alloc(0), Buffer.from([1]), Buffer.alloc(40, 0xff)], /did not answer .* in time/],
    [
      'the right id and then noise',
      ({ query }) => [Buffer.concat([query.subarray(0, 2), Buffer.alloc(30, 0xff)])],
      /malformed message/,
    ],
    ['an answer cut off', ({ query }) => [withAnswer(query, 1, ADDRESS).subarray(0, -1)], /malformed message/],
    ['a record of another class', ({ query }) => [withAnswer(query, 1, ADDRESS, 3)], /malformed message/],
  ])('%s', async (_, lie, reason) => {
    await using liar = await startLiar(lie)
    expect(await look(liar)).toEqual(unknown(reason))
  })

  test('nobody at that port', async () => {
    const port = await freePort()
    expect(await look({ address: '127.0.0.1', port })).toEqual(unknown(/could not be reached/))
  })

  test.each(['A', 'SVCB', 'SOA', 'DNAME'])('a failure of the one question %s', async (type) => {
    await using liar = await startLiar((asked) => (asked.type === type ? flags(0x8402)(asked) : honest(asked)))
    expect(await look(liar)).toEqual(unknown(new RegExp(`answered SERVFAIL to .* ${type}$`)))
  })

  test('a failure of the question about the owner mark', async () => {
    await using liar = await startLiar((asked) => (asked.name === `_drawbridge.${HOST}` ? [] : honest(asked)))
    expect(await look(liar)).toEqual(unknown(/did not answer _drawbridge\.app\.lab\.test TXT/))
  })

  test('a zone that the server denies', async () => {
    await using liar = await startLiar((asked) => flags(0x8403)(asked))
    expect(await look(liar)).toEqual(unknown(/does not serve the zone lab\.test/))
  })

  test('answers that contradict each other', async () => {
    await using liar = await startLiar((asked) => (asked.type === 'MX' ? flags(0x8400)(asked) : honest(asked)))
    expect(await look(liar)).toEqual(unknown(/contradict/))
  })

  test('a record found, but no answer as to whose it is', async () => {
    await using liar = await startLiar((asked) => {
      if (asked.name === HOST) return asked.type === 'A' ? [withAnswer(asked.query, 1, ADDRESS)] : flags(0x8400)(asked)
      return asked.name.endsWith(`.*.${HOST}`) ? [] : honest(asked)
    })
    expect(await look(liar)).toEqual(unknown(/did not answer .*\.\*\.app\.lab\.test A in time/))
  })
})

describe('where the name exists without records of the ten types', () => {
  const exists: Lie = (asked) => (asked.name === HOST ? flags(0x8400)(asked) : honest(asked))
  const declined = Buffer.from('\x07RFC8482\x00')

  test.each<[string, Lie | 'dead', unknown]>([
    ['REFUSED to ANY', flags(0x8005), unknown(/answered REFUSED to app\.lab\.test ANY/)],
    ['NOTIMP to ANY', flags(0x8004), unknown(/answered NOTIMP to app\.lab\.test ANY/)],
    ['the HINFO of RFC 8482 to ANY', ({ query }) => [withAnswer(query, 13, declined)], unknown(/does not answer ANY/)],
    ['NXDOMAIN to ANY', honest, unknown(/contradict/)],
    ['no TCP for ANY', 'dead', unknown(/could not be reached for app\.lab\.test ANY/)],
    ['nothing at all to ANY', flags(0x8400), { ...FREE, emptyNonTerminal: true }],
  ])('%s', async (_, tcp, fact) => {
    await using liar = await startLiar(exists, tcp)
    expect(await look(liar, PATIENT)).toEqual(fact)
  })
})

describe('over TCP when UDP is truncated', () => {
  test('the answer counts', async () => {
    await using liar = await startLiar(truncated)
    expect(await look(liar, PATIENT)).toEqual(FREE)
  })

  test.each<[string, Lie | 'dead', RegExp]>([
    ['nobody listens', 'dead', /could not be reached/],
    ['silence', silent, /did not answer .* in time/],
    ['truncated again', truncated, /malformed message/],
    ['another id', ({ truth }) => [otherId(truth)], /malformed message/],
    ['the answer to another question', (asked) => [toOtherQuestion(asked)], /malformed message/],
    ['an empty message', () => [Buffer.alloc(0)], /malformed message/],
    ['SERVFAIL', flags(0x8402), /answered SERVFAIL/],
  ])('%s', async (_, tcp, reason) => {
    await using liar = await startLiar(truncated, tcp)
    expect(await look(liar)).toEqual(unknown(reason))
  })
})

describe('the reader', () => {
  test('asks everything over one socket, each question under its own id', async () => {
    await using liar = await startLiar(honest)
    await look(liar)
    expect(new Set(liar.asked.map(({ from }) => from.port)).size).toBe(1)
    // A question that is repeated on a slow machine keeps its id.
    const first = liar.asked.filter(({ repeated }) => repeated === 0)
    expect(new Set(first.map(({ query }) => query.readUInt16BE(0))).size).toBe(first.length)
    expect(first.length).toBeGreaterThanOrEqual(13)
  })

  test('draws new ids for every look', async () => {
    await using liar = await startLiar(honest)
    await look(liar)
    await look(liar)
    const ids = liar.asked
      .filter(({ type, repeated }) => type === 'MX' && repeated === 0)
      .map(({ query }) => query.readUInt16BE(0))
    const inOrder = liar.asked.every(({ query }, i) => query.readUInt16BE(0) === i)
    expect(ids).toHaveLength(2)
    expect(inOrder).toBe(false)
  })

  test('asks a second time when the first was lost, and not a third', async () => {
    await using lossy = await startLiar((asked) => (asked.repeated === 0 ? [] : honest(asked)))
    expect(await look(lossy, PATIENT)).toEqual(FREE)
    await using mute = await startLiar(silent)
    await look(mute)
    expect(Math.max(...mute.asked.map(({ repeated }) => repeated))).toBe(1)
  })

  test('waits past noise for the answer', async () => {
    await using liar = await startLiar((asked) => [
      Buffer.from('noise'),
      Buffer.concat([asked.query.subarray(0, 2), Buffer.alloc(20, 0xff)]),
      otherId(withAnswer(asked.query, 1, ADDRESS)),
      toOtherQuestion(asked),
      asked.truth,
    ])
    expect(await look(liar, PATIENT)).toEqual(FREE)
  })

  test('does not hear anyone but the server it asked', async () => {
    const forger = createSocket('udp4')
    await using liar = await startLiar((asked) => {
      forger.send(withAnswer(asked.query, 1, ADDRESS), asked.from.port, asked.from.address)
      return []
    })
    expect(await look(liar)).toEqual(unknown(/did not answer/))
    forger.close()
  })

  test('reaches servers on IPv6, over UDP and TCP', async () => {
    await using liar = await startLiar(truncated, honest, '::1')
    expect(dnsReader(liar).server).toBe(`[::1]:${liar.port}`)
    expect(await look(liar, PATIENT)).toEqual(FREE)
  })

  test('has one time limit for all rounds of a look', async () => {
    await using liar = await startLiar(honest)
    const reader = dnsReader(liar, LIMITS)
    using clock = new FairClock()
    await takes(2 * LIMITS.limitMs)
    expect(await reader.ask([{ name: 'lab.test', type: 'SOA' }], { clock })).toEqual([
      { kind: 'no_answer', reason: 'timeout' },
    ])
    const overTcp = { name: 'lab.test', type: 'SOA', over: 'tcp' } as const
    expect(await reader.ask([overTcp], { clock })).toEqual([{ kind: 'no_answer', reason: 'timeout' }])
  })

  test('an answer that came while this process was late is heard, and silence is silence', async () => {
    await using honestly = await startLiar(honest)
    const heard = look(honestly)
    blockFor(2 * LIMITS.limitMs)
    expect(await heard).toEqual(FREE)
    await using mute = await startLiar(silent)
    const unheard = look(mute)
    blockFor(2 * LIMITS.limitMs)
    expect(await unheard).toMatchObject({ kind: 'unknown' })
  })

  test('answers each question in its place, and what cannot be asked too', async () => {
    await using liar = await startLiar(honest)
    const outcomes = await dnsReader(liar, LIMITS).ask([
      { name: 'a'.repeat(64), type: 'A' },
      { name: 'lab.test', type: 'SOA', over: 'tcp' },
      { name: HOST, type: 'A' },
    ])
    expect(outcomes).toMatchObject([
      { kind: 'no_answer', reason: 'unaskable' },
      { kind: 'answer', rcode: 'NOERROR', answers: [{ owner: 'lab.test', type: 'SOA' }] },
      { kind: 'answer', rcode: 'NXDOMAIN', answers: [] },
    ])
  })

  test('asks for recursion only when made for a resolver', async () => {
    await using liar = await startLiar(honest)
    await dnsReader(liar, LIMITS).ask([{ name: 'lab.test', type: 'CAA' }])
    await dnsReader(liar, { ...LIMITS, recursive: true }).ask([{ name: 'lab.test', type: 'CAA' }])
    // A busy machine answers late, and then a question is sent again.
    expect([...new Set(liar.asked.map(({ query }) => query.readUInt16BE(2)))]).toEqual([0, 0x0100])
  })
})
