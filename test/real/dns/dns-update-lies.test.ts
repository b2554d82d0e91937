import { describe, expect, test } from 'vitest'
import { rfc2136Provider } from '../../../src/dns/rfc2136.ts'
import { honest, type Lie, reply, silent, startLiar } from '../../support/dns/dns-liar.ts'
import { randomKey } from '../../support/dns/served-zone.ts'
import { type AnswerTraits, signedAnswer, UPDATE_ANSWER, unsignedAnswer } from '../../support/dns/tsig-answer.ts'

const key = randomKey('drawbridge')
const RECORD = { name: 'app.lab.test', type: 'A', ttl: 60, value: '127.0.45.23' } as const

async function createAt(tcp: Lie): Promise<string> {
  await using liar = await startLiar(honest, tcp)
  const provider = rfc2136Provider({ zone: 'lab.test', primary: liar, key, limitMs: 250 })
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
    ['an unsigned NOERROR', unsigned(0), /answered NOERROR, which is not signed/],
    ['an unsigned YXDOMAIN', unsigned(6), /answered YXDOMAIN, which is not signed/],
    ['an unsigned REFUSED', unsigned(5), /answered REFUSED, which is not signed/],
    ['an unsigned NOTAUTH', unsigned(9), /answered NOTAUTH, which is not signed/],
    ['an answer signed with another secret', signed({}, randomKey('drawbridge')), /signature that is not right/],
    ['an answer signed with another key', signed({}, randomKey('nobody')), /signed with another key/],
    ['an answer signed an hour ago', signed({ seconds: hourAgo() }), /signed at another time/],
    ['an answer signed for another request', signed({ requestMac: Buffer.alloc(32) }), /signature that is not right/],
    ['an answer with the signature cut short', signed({ macLength: 16 }), /signature that is not right/],
    ['our request sent back as an answer', ({ query }) => [reply(query, UPDATE_ANSWER)], /signature that is not right/],
    ['our request sent back as it was', ({ query }) => [query], /no answer to it/],
    ['a signed answer with another id', ({ query }) => [otherId(signedAnswer(query, key))], /no answer to it/],
    ['a signed answer to a query', signed({ flags: 0x8000 }), /no answer to it/],
    ['a TSIG error under NOERROR', signed({ error: 17, macLength: 0 }), /answered NOERROR and BADKEY/],
    ['a signed TSIG error under NOERROR', signed({ error: 18 }), /answered NOERROR and BADTIME/],
    ['noise', () => [Buffer.alloc(40, 0xff)], /no answer to it/],
    ['an empty message', () => [Buffer.alloc(0)], /no answer to it/],
    ['silence', silent, /no answer in time/],
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
    ['a signed REFUSED', { flags: UPDATE_ANSWER | 5 }, /REFUSED.*right to update/],
    ['a signed NOTAUTH', { flags: UPDATE_ANSWER | 9 }, /NOTAUTH.*not the primary/],
    ['a signed NOTZONE', { flags: UPDATE_ANSWER | 10 }, /NOTZONE/],
    ['a signed failure of a prerequisite that was not asked for', { flags: UPDATE_ANSWER | 8 }, /unexpected NXRRSET/],
    ['a signed BADTIME', { flags: UPDATE_ANSWER | 9, error: 18, other: Buffer.alloc(6) }, /BADTIME.*clocks/],
    ['a BADKEY', { flags: UPDATE_ANSWER | 9, error: 17, macLength: 0 }, /BADKEY.*key drawbridge/],
    ['a BADSIG', { flags: UPDATE_ANSWER | 9, error: 16, macLength: 0 }, /BADSIG.*secret/],
  ])('%s', async (_, traits, reason) => {
    const outcome = await createAt(signed(traits))
    expect(outcome).toMatch(/^refused: /)
    expect(outcome).toMatch(reason)
  })
})

test('a server that ignores what an update requires fails the rehearsal', async () => {
  await using liar = await startLiar(honest, signed())
  const rehearsal = rfc2136Provider({ zone: 'lab.test', primary: liar, key }).checkAccess()
  await expect(rehearsal).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('ignores') })
})
