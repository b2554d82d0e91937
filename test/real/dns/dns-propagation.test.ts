import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bind, startBind } from '../../../lab/bind.ts'
import { freePort } from '../../../lab/free-port.ts'
import type { DnsProvider, DnsReader, ZoneRecord } from '../../../src/dns/contract.ts'
import { awaitPropagation, holdsExactly } from '../../../src/dns/read-back.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { rfc2136Provider } from '../../../src/dns/rfc2136.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { honest, type Lie, reply, silent, startLiar, withAnswer } from '../../support/dns/dns-liar.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const challenge = (label: string, value = 'token'): ZoneRecord => ({
  name: `_acme-challenge.${label}.lab.test`,
  type: 'TXT',
  ttl: 60,
  value,
})

describe('on a real BIND and its secondary', () => {
  const folder = tempFolder()
  let bind: Bind
  let provider: DnsProvider
  let servers: readonly DnsReader[]

  beforeAll(async () => {
    const [port, secondaryPort] = [await freePort(), await freePort()]
    const key = { name: 'drawbridge', algorithm: 'hmac-sha256', secret: randomBytes(32).toString('base64') } as const
    const zones = [{ name: 'lab.test', records: [] }]
    bind = await startBind({ folder: folder.path, port, secondaryPort, zones, tsig: key })
    provider = rfc2136Provider({ zone: 'lab.test', primary: { address: '127.0.0.1', port }, key, clock: systemClock })
    servers = [port, secondaryPort].map((at) => dnsReader({ address: '127.0.0.1', port: at }))
  })
  afterAll(async () => {
    await bind.stop()
    folder[Symbol.dispose]()
  })

  test('a value that was added is served everywhere in a moment, and gone when it was taken away', async () => {
    const [ours, other] = [challenge('a', 'x'.repeat(300)), challenge('a', 'of another order')]
    await provider.addValue(other)
    await provider.addValue(ours)
    expect(await awaitPropagation(servers, ours, 'served')).toEqual({ ok: true })
    await provider.removeValue(ours)
    expect(await awaitPropagation(servers, ours, 'gone')).toEqual({ ok: true })
    expect(await awaitPropagation(servers, other, 'served')).toEqual({ ok: true })
  })

  test('a value that is nowhere lags everywhere', async () => {
    const lagging = servers.map(({ server }) => server)
    expect(await awaitPropagation(servers, challenge('b'), 'served', 200)).toEqual({ ok: false, lagging })
  })

  test('a value that stays is not gone', async () => {
    await provider.addValue(challenge('c'))
    await awaitPropagation(servers, challenge('c'), 'served')
    expect(await awaitPropagation(servers, challenge('c'), 'gone', 200)).toMatchObject({ ok: false })
  })

  test('a secondary that is down is not waited for, and is named if nobody else confirms', async () => {
    await bind.secondary?.stop()
    await provider.addValue(challenge('d'))
    const lagging = servers.slice(1).map(({ server }) => server)
    expect(await awaitPropagation(servers, challenge('d'), 'served')).toEqual({ ok: true })
    expect(await awaitPropagation(servers.slice(1), challenge('never'), 'gone', 500)).toEqual({ ok: false, lagging })
  })
})

describe('a name server beside one that serves the record', () => {
  const TOKEN = Buffer.from('\x05token')
  const wait = async (other: Lie, limitMs: number) => {
    await using sure = await startLiar(({ query }) => [withAnswer(query, 16, TOKEN)])
    await using liar = await startLiar(other)
    const servers = [dnsReader(sure), dnsReader(liar, { limitMs: 100 })]
    return { ...(await awaitPropagation(servers, challenge('a'), 'served', limitMs)), liar: servers[1]?.server }
  }

  test('that is silent is not waited for', async () => {
    expect(await wait(silent, 20_000)).toMatchObject({ ok: true })
  }, 10_000)

  test.each<[string, Lie]>([
    ['without the record', honest],
    ['with SERVFAIL', ({ query }) => [reply(query, 0x8402)]],
  ])('that answers %s is waited for', async (_, lie) => {
    const { liar, ...propagation } = await wait(lie, 500)
    expect(propagation).toEqual({ ok: false, lagging: [liar] })
  })

  test('that answers again after a silence is waited for', async () => {
    const answers = [[], 'without', 'with']
    let asked = 0
    const late: Lie = ({ query, truth }) => {
      const answer = answers[Math.min(asked++, 2)]
      return answer === 'with' ? [withAnswer(query, 16, TOKEN)] : answer === 'without' ? [truth] : []
    }
    await using early = await startLiar(({ query, truth }) => [asked < 2 ? truth : withAnswer(query, 16, TOKEN)])
    await using other = await startLiar(late)
    const servers = [dnsReader(early), dnsReader(other, { limitMs: 100 })]
    expect(await awaitPropagation(servers, challenge('a'), 'served', 20_000)).toEqual({ ok: true })
    expect(asked).toBe(3)
  })
})

describe('an answer that is not certain', () => {
  const TOKEN = Buffer.from('\x05token')

  test.each([
    ['silence', silent],
    ['SERVFAIL', ({ query }: { query: Buffer }) => [reply(query, 0x8402)]],
    ['no authority', ({ query }: { query: Buffer }) => [reply(withAnswer(query, 16, TOKEN), 0x8000)]],
  ])('neither shows a value nor its end, and a look stays unknown: %s', async (_, lie) => {
    await using liar = await startLiar(lie)
    const reader = dnsReader(liar, { limitMs: 100 })
    const lagging = [reader.server]
    expect(await awaitPropagation([reader], challenge('a'), 'served', 150)).toEqual({ ok: false, lagging })
    expect(await awaitPropagation([reader], challenge('a'), 'gone', 150)).toEqual({ ok: false, lagging })
    expect(await holdsExactly(reader, [challenge('a')])).toBe('unknown')
  })

  test('of one question leaves the whole look unknown', async () => {
    const [host, mark] = [challenge('a'), challenge('b')]
    await using liar = await startLiar((asked) => (asked.name === mark.name ? [] : honest(asked)))
    expect(await holdsExactly(dnsReader(liar, { limitMs: 100 }), [host, mark])).toBe('unknown')
  })

  test('is waited for no longer than the limit, however patient the reader is', async () => {
    await using liar = await startLiar(silent)
    const reader = dnsReader(liar, { limitMs: 20_000 })
    const wait = awaitPropagation([reader], challenge('a'), 'served', 100)
    expect(await wait).toEqual({ ok: false, lagging: [reader.server] })
  }, 5_000)

  test('with a broken text is not taken for the text', async () => {
    await using liar = await startLiar(({ query }) => [withAnswer(query, 16, Buffer.from('\x06token'))])
    const reader = dnsReader(liar)
    expect(await awaitPropagation([reader], challenge('a'), 'served', 100)).toMatchObject({ ok: false })
  })
})

test('a text that a server cuts into other strings than we do is the same text', async () => {
  await using liar = await startLiar(({ query }) => [withAnswer(query, 16, Buffer.from('\x02to\x00\x03ken'))])
  expect(await awaitPropagation([dnsReader(liar)], challenge('a'), 'served', 500)).toEqual({ ok: true })
})
