import { describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import { DnsWriteFault } from '../../../src/dns/contract.ts'
import { holdsExactly } from '../../../src/dns/read-back.ts'
import type { Rfc2136Options } from '../../../src/dns/rfc2136.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { randomKey } from '../../support/dns/served-zone.ts'
import { startAnswerThief } from '../../support/programs/answer-thief.ts'
import { address, type Bench, exposure, freshName, ZONE } from './bench.ts'

const HOUR_MS = 3_600_000

/** Refused clients. `unsigned`: PowerDNS refuses without a signature, which proves nothing. */
const REFUSED: readonly [string, (bench: Bench) => Partial<Rfc2136Options>, 'unsigned' | 'signed'][] = [
  ['a wrong secret', ({ key }) => ({ key: { ...key, secret: randomKey('').secret } }), 'unsigned'],
  ['an unknown key', () => ({ key: randomKey('nobody') }), 'unsigned'],
  ['a known key without rights', ({ stranger }) => ({ key: stranger }), 'signed'],
  [
    'the right secret under another algorithm',
    ({ key }) => ({ key: { ...key, algorithm: 'hmac-sha512' } }),
    'unsigned',
  ],
  ['a clock an hour behind', () => ({ clock: { ...systemClock, now: () => Date.now() - HOUR_MS } }), 'unsigned'],
  ['a clock an hour ahead', () => ({ clock: { ...systemClock, now: () => Date.now() + HOUR_MS } }), 'unsigned'],
]

/** `complains`: whether the server reports the reason in the TSIG record. */
export function refusalSuite(on: () => Bench, complains: boolean): void {
  describe('is refused, and nothing changes', () => {
    test.each(REFUSED)('%s', async (_, options, manner) => {
      const bench = on()
      const provider = bench.providerWith(options(bench))
      const standing = exposure(freshName())
      const wanted = exposure(freshName())
      await bench.provider.create(standing)
      const before = await bench.serial()
      const kind = manner === 'signed' || complains ? 'refused' : 'unknown'
      const attempts = [
        provider.create(wanted),
        provider.remove(standing),
        provider.replace(standing, wanted),
        provider.addValue(address(standing[0].name, '127.0.45.99')),
        provider.removeValue(standing[0]),
        provider.checkAccess(),
      ]
      for (const attempt of await Promise.allSettled(attempts)) {
        expect(attempt).toMatchObject({ status: 'rejected', reason: { kind } })
        if (attempt.status === 'rejected') expect(attempt.reason).toBeInstanceOf(DnsWriteFault)
      }
      expect(await bench.serial()).toBe(before)
      expect(await holdsExactly(bench.reader, standing)).toBe('yes')
      expect(await holdsExactly(bench.reader, wanted)).toBe('no')
    })

    test('a name outside the zone', async () => {
      const { provider, serial } = on()
      const before = await serial()
      await expect(provider.create([address('www.elsewhere.test')])).rejects.toMatchObject({ kind: 'refused' })
      expect(await serial()).toBe(before)
    })

    test.each<[string, ReturnType<typeof address>]>([
      ['an address that is none', address(`bad.${ZONE}`, '127.0.0.1.5')],
      ['an IPv4 address as AAAA', { ...address(`bad.${ZONE}`), type: 'AAAA' }],
      ['a name with a space', address(`b ad.${ZONE}`)],
      ['a text longer than a record', { name: `bad.${ZONE}`, type: 'TXT', ttl: 60, value: 'x'.repeat(70_000) }],
      ['a text longer than a message', { name: `bad.${ZONE}`, type: 'TXT', ttl: 60, value: 'x'.repeat(65_200) }],
    ])('%s, before anything is sent', async (_, record) => {
      const { provider } = on()
      const creating = provider.create([record])
      await expect(creating).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(/was not sent: /),
      })
    })
  })

  test('a server that does not run got no update', async () => {
    const primary = { address: '127.0.0.1', port: await freePort() }
    const creating = on().providerWith({ primary }).create(exposure(freshName()))
    await expect(creating).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('was not sent') })
  })

  describe('an answer that is lost after the change', () => {
    test('to create has an unknown outcome, and reading back shows the records', async () => {
      const { host, providerWith, reader } = on()
      await using thief = await startAnswerThief(host.endpoint)
      const records = exposure(freshName())
      await expect(providerWith({ primary: thief }).create(records)).rejects.toMatchObject({ kind: 'unknown' })
      expect(thief.stolen()).toBe(1)
      expect(await holdsExactly(reader, records)).toBe('yes')
    })

    test('to remove has an unknown outcome, and reading back shows no records', async () => {
      const { host, provider, providerWith, reader } = on()
      await using thief = await startAnswerThief(host.endpoint)
      const records = exposure(freshName())
      await provider.create(records)
      await expect(providerWith({ primary: thief }).remove(records)).rejects.toMatchObject({ kind: 'unknown' })
      expect(await holdsExactly(reader, records)).toBe('no')
    })
  })

  test('no error contains the secret', async () => {
    const bench = on()
    const key = randomKey('nobody')
    const fault = await bench
      .providerWith({ key })
      .create(exposure(freshName()))
      .catch((error: Error) => error)
    expect(`${fault} ${JSON.stringify(fault)} ${(fault as Error).stack}`).not.toContain(key.secret)
    expect(JSON.stringify(bench.provider)).not.toContain(bench.key.secret)
  })
}
