import { describe, expect, test } from 'vitest'
import { rfc2136Provider } from '../../../src/dns/rfc2136.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { honest, type Lie, reply, silent, startLiar } from '../../support/dns/dns-liar.ts'
import { randomKey } from '../../support/dns/served-zone.ts'
import { type AnswerTraits, signedAnswer, UPDATE_ANSWER, unsignedAnswer } from '../../support/dns/tsig-answer.ts'

const key = randomKey('drawbridge')
const RECORD = { name: 'app.lab.test', type: 'A', ttl: 60, value: '127.0.45.23' } as const

async function createAt(tcp: Lie): Promise<string> {
  await using liar = await startLiar(honest, tcp)
  const provider = rfc2136Provider({ zone: 'lab.test', primary: liar, key, limitMs: 250, clock: systemClock })
  return await provider.create([RECORD]).catch((error) => `${error.kind}: ${error.message}`)
}

const signed =
  (traits: AnswerTraits = {}, signer = key): Lie =>
  ({ query }) => [signedAnswer(query, signer, traits)]
const unsigned =
  (rcode: number): Lie =>
  ({ query }) => [unsignedAnswer(query, UPDATE_ANSWER | rcode)]
const hourAgo = (): number => Math.floor(Date.now() / 1000) - 3600
const otherId = (bytes: Buffer): Buffer => {
  bytes.writeUInt16BE(bytes.readUInt16BE(0) ^ 1, 0)
  return bytes
}

test('a signed answer is believed', async () => {
  expect(await createAt(signed())).toBe('created')
  expect(await createAt(signed({ flags: UPDATE_ANSWER | 6 }))).toBe('in_use')
})

describe('whether the change was made is unknown after', () => {
  test.each<[string, Lie, RegExp]>([
    ['an unsigned NOERROR', unsigned(0), /answered NOERROR, but the answer is not signed/],
    ['an unsigned YXDOMAIN', unsigned(6), /answered YXDOMAIN, but the answer is not signed/],
    ['an unsigned REFUSED', unsigned(5), /answered REFUSED, but the answer is not signed/],
    ['an unsigned NOTAUTH', unsigned(9), /answered NOTAUTH, but the answer is not signed/],
    ['an answer signed with another secret', signed({}, randomKey('drawbridge')), /wrong signature/],
    ['an answer signed with another key', signed({}, randomKey('nobody')), /signed with another key/],
    ['an answer signed an hour ago', signed({ seconds: hourAgo() }), /signed at another time/],
    ['an answer signed for another request', signed({ requestMac: Buffer.alloc(32) }), /wrong signature/],
    ['an answer with the signature cut short', signed({ macLength: 16 }), /wrong signature/],
    ['our request sent back as an answer', ({ query }) => [reply(query, UPDATE_ANSWER)], /wrong signature/],
    ['our request sent back as it was', ({ query }) => [query], /not an answer to the update/],
    [
      'a signed answer with another id',
      ({ query }) => [otherId(signedAnswer(query, key))],
      /not an answer to the update/,
    ],
    ['a signed answer to a query', signed({ flags: 0x8000 }), /not an answer to the update/],
    ['a TSIG error under NOERROR', signed({ error: 17, macLength: 0 }), /answered NOERROR and BADKEY/],
    ['a signed TSIG error under NOERROR', signed({ error: 18 }), /answered NOERROR and BADTIME/],
    ['noise', () => [Buffer.alloc(40, 0xff)], /not an answer to the update/],
    ['an empty message', () => [Buffer.alloc(0)], /not an answer to the update/],
    ['silence', silent, /did not answer in time/],
  ])('%s', async (_, lie, reason) => {
    const outcome = await createAt(lie)
    expect(outcome).toMatch(/^unknown: /)
    expect(outcome).toMatch(reason)
  })
})

describe('nothing was changed after', () => {
  test.each<[string, AnswerTraits, RegExp]>([
    ['a signed FORMERR', { flags: UPDATE_ANSWER | 1 }, /FORMERR/],
    ['a signed SERVFAIL', { flags: UPDATE_ANSWER | 2 }, /SERVFAIL/],
    ['a signed REFUSED', { flags: UPDATE_ANSWER | 5 }, /REFUSED.*permission to update/],
    ['a signed NOTAUTH', { flags: UPDATE_ANSWER | 9 }, /NOTAUTH.*not the primary/],
    ['a signed NOTZONE', { flags: UPDATE_ANSWER | 10 }, /NOTZONE/],
    [
      'a signed failure of a prerequisite that was not asked for',
      { flags: UPDATE_ANSWER | 8 },
      /unexpected code NXRRSET/,
    ],
    ['a signed BADTIME', { flags: UPDATE_ANSWER | 9, error: 18, other: Buffer.alloc(6) }, /BADTIME.*\bclock\b/],
    ['a BADKEY', { flags: UPDATE_ANSWER | 9, error: 17, macLength: 0 }, /BADKEY.*key drawbridge/],
    ['a BADSIG', { flags: UPDATE_ANSWER | 9, error: 16, macLength: 0 }, /BADSIG.*secret/],
  ])('%s', async (_, traits, reason) => {
    const outcome = await createAt(signed(traits))
    expect(outcome).toMatch(/^refused: /)
    expect(outcome).toMatch(reason)
  })
})

test('a server that ignores the prerequisites of an update fails the access check', async () => {
  await using liar = await startLiar(honest, signed())
  const check = rfc2136Provider({ zone: 'lab.test', primary: liar, key, clock: systemClock }).checkAccess()
  await expect(check).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('ignores') })
})
