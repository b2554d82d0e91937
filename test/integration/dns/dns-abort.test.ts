import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DnsReader } from '../../../src/dns/contract.ts'
import { awaitPropagation, holdsExactly, readSets } from '../../../src/dns/read-back.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { rfc2136Provider } from '../../../src/dns/rfc2136.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { type Liar, reply, silent, startLiar } from '../../support/dns/dns-liar.ts'
import { randomKey } from '../../support/dns/served-zone.ts'

/** A server that takes every question and update and answers none, over UDP and TCP. */
let server: Liar
beforeEach(async () => {
  server = await startLiar(({ name, query }) => (name === 'long.lab.test' ? [reply(query, 0x8600)] : []), silent)
})
afterEach(() => server[Symbol.asyncDispose]())

const REASON = new Error('the run must stop')
const LIMITS = { limitMs: 600_000, resendAfterMs: 600_000 }
const RECORD = { name: 'app.lab.test', type: 'A', ttl: 60, value: '127.0.45.23' } as const

/** Aborts when the server was asked `count` times. */
function abortedAfter(count: number): AbortSignal {
  const controller = new AbortController()
  void expect
    .poll(() => server.asked.length)
    .toBeGreaterThanOrEqual(count)
    .then(() => controller.abort(REASON))
  return controller.signal
}
/** The sockets of this process. One is the server's own, which listens. */
const sockets = () => process.getActiveResourcesInfo().filter((kind) => /UDP|TCPSocket/.test(kind))

describe('a question to a silent server ends with the abort, and its socket is closed', () => {
  const asking: [string, (reader: DnsReader, signal: AbortSignal) => Promise<unknown>][] = [
    ['over UDP', (reader, signal) => reader.ask([RECORD], { signal })],
    ['over TCP', (reader, signal) => reader.ask([{ ...RECORD, over: 'tcp' }], { signal })],
    [
      'over TCP after a truncated answer',
      (reader, signal) => reader.ask([{ ...RECORD, name: 'long.lab.test' }], { signal }),
    ],
    ['for records', (reader, signal) => holdsExactly(reader, [RECORD], signal)],
    ['for all records of a name', (reader, signal) => readSets(reader, [RECORD.name], signal)],
    ['for propagation', (reader, signal) => awaitPropagation([reader, reader], RECORD, 'served', 600_000, signal)],
  ]
  test.each(asking)('%s', async (name, ask) => {
    await expect(ask(dnsReader(server, LIMITS), abortedAfter(name.includes('truncated') ? 2 : 1))).rejects.toBe(REASON)
    await expect.poll(sockets).toEqual(['UDPWrap'])
  })

  test('in a pause of the wait for propagation', async () => {
    await using answering = await startLiar(({ truth }) => [truth])
    const controller = new AbortController()
    let asked = 0
    const reader: DnsReader = {
      server: '',
      ask: async (questions, options) => {
        asked += 1
        const outcomes = await dnsReader(answering).ask(questions, options)
        setTimeout(() => controller.abort(REASON))
        return outcomes
      },
    }
    await expect(awaitPropagation([reader], RECORD, 'served', 600_000, controller.signal)).rejects.toBe(REASON)
    expect(asked).toBe(1)
  })

  test('a question is not sent after the abort', async () => {
    await expect(dnsReader(server).ask([RECORD], { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON)
    expect(server.asked).toEqual([])
  })
})

describe('an update to a silent server ends with the abort of its guard, and its connection is closed', () => {
  const provider = () =>
    rfc2136Provider({
      zone: 'lab.test',
      primary: server,
      key: randomKey('drawbridge'),
      limitMs: 600_000,
      clock: systemClock,
    })
  const guard = (signal: AbortSignal) => ({
    assertHeld: () => undefined,
    ensureHeld: async () => undefined,
    leftMs: 60_000,
    signal,
  })

  test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
    ['create', (signal) => provider().create([RECORD], guard(signal))],
    ['remove', (signal) => provider().remove([RECORD], guard(signal))],
    ['replace', (signal) => provider().replace([RECORD], [], guard(signal))],
    ['addValue', (signal) => provider().addValue(RECORD, guard(signal))],
    ['removeValue', (signal) => provider().removeValue(RECORD, guard(signal))],
    ['checkAccess', (signal) => provider().checkAccess(signal)],
  ])('%s', async (_, update) => {
    await expect(update(abortedAfter(1))).rejects.toBe(REASON)
    await expect.poll(sockets).toEqual(['UDPWrap'])
  })

  test('an update is not sent after the abort', async () => {
    // From a timer: the connection is open before the next limit is looked at.
    await new Promise((resolve) => setTimeout(resolve))
    await expect(provider().create([RECORD], guard(AbortSignal.abort(REASON)))).rejects.toBe(REASON)
    // What was sent before this question is counted before it, too.
    await dnsReader(server, { ...LIMITS, limitMs: 1 })
      .ask([{ ...RECORD, name: 'last.lab.test' }])
      .catch(() => undefined)
    await expect.poll(() => server.asked.length).toBeGreaterThan(0)
    expect(server.asked).toHaveLength(1)
  })
})
