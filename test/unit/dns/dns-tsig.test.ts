import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { DnsWriteFault } from '../../../src/dns/contract.ts'
import { authenticate, FUDGE, signRequest, TsigKey, type TsigKeySettings } from '../../../src/dns/tsig.ts'
import { judgeUpdate } from '../../../src/dns/update-verdict.ts'
import { encodeUpdate } from '../../../src/dns/wire/update.ts'
import { type AnswerTraits, signedAnswer, unsignedAnswer } from '../../support/dns/tsig-answer.ts'
import { fc, forSome } from '../../support/fast-check.ts'

const SECONDS = 0x65432100
const SECRET = Buffer.from('canary-secret-of-32-octets-length').toString('base64')
const settings: TsigKeySettings = { name: 'Key.Test.', algorithm: 'hmac-sha256', secret: SECRET }
const key = new TsigKey(settings)
const message = encodeUpdate(0x1234, { zone: 'lab.test', prerequisites: [], changes: [] })
const request = signRequest(message, key, SECONDS, FUDGE)

/** As a server that holds the same key would write its name. */
const served = { ...settings, name: 'key.test' }
const answer = (traits: AnswerTraits = {}, signer = served) =>
  signedAnswer(request.wire, signer, { seconds: SECONDS, ...traits })
const judge = (bytes: Buffer, seconds = SECONDS) => authenticate(bytes, request.mac, key, seconds)
const unproven = (reason: RegExp) => ({ kind: 'unproven', reason: expect.stringMatching(reason) })

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')
const KEY_NAME = '03 6b6579 04 74657374 00'
const ALGORITHM = '0b 686d61632d736861323536 00'
const TIME_AND_FUDGE = '000065432100 012c'

describe('a signed request', () => {
  const mac = createHmac('sha256', 'canary-secret-of-32-octets-length')
    .update(hex('1234 2800 0001 0000 0000 0000 03 6c6162 04 74657374 00 0006 0001'))
    .update(hex(`${KEY_NAME} 00ff 00000000 ${ALGORITHM} ${TIME_AND_FUDGE} 0000 0000`))
    .digest('hex')

  test('has the octets that RFC 8945 says, its record counted among the additional ones', () => {
    expect(request.mac.toString('hex')).toBe(mac)
    const length = '003d' // 13 of the algorithm, 10 of time, fudge and size, 32 of the MAC, 6 of id, error and other length
    expect(request.wire).toEqual(
      hex(`1234 2800 0001 0000 0000 0001 03 6c6162 04 74657374 00 0006 0001
        ${KEY_NAME} 00fa 00ff 00000000 ${length} ${ALGORITHM} ${TIME_AND_FUDGE} 0020 ${mac} 1234 0000 0000`),
    )
  })

  test('carries 64 octets of MAC with hmac-sha512', () => {
    const longKey = new TsigKey({ ...settings, algorithm: 'hmac-sha512' })
    const signed = signRequest(message, longKey, SECONDS, FUDGE)
    expect(signed.mac).toHaveLength(64)
    const genuine = signedAnswer(signed.wire, { ...served, algorithm: 'hmac-sha512' }, { seconds: SECONDS })
    expect(authenticate(genuine, signed.mac, longKey, SECONDS)).toMatchObject({ kind: 'genuine', error: undefined })
  })
})

describe('an answer is genuine', () => {
  test('when it is signed with our key in answer to our request', () =>
    expect(judge(answer())).toEqual({ kind: 'genuine', error: undefined, serverSeconds: SECONDS }))

  test('at both ends of the time allowed, and no further', () => {
    expect(judge(answer(), SECONDS + 300).kind).toBe('genuine')
    expect(judge(answer(), SECONDS - 300).kind).toBe('genuine')
    expect(judge(answer(), SECONDS + 301)).toEqual(unproven(/another time/))
    expect(judge(answer(), SECONDS - 301)).toEqual(unproven(/another time/))
  })

  test('when it tells, signed, that our clock is wrong', () => {
    const told = answer({ flags: 0xa809, error: 18, other: hex('000065439999') })
    expect(judge(told)).toEqual({ kind: 'genuine', error: 'BADTIME', serverSeconds: 0x65439999 })
  })
})

test.each([
  ['this clock is ahead', SECONDS, /is 3600 s ahead of that of the DNS server\. Correct/],
  ['this clock is behind', SECONDS - 7200, /is 3600 s behind that of the DNS server\. Correct/],
  ['the update was held back on its way', SECONDS - 3600, /after the 6 s for which it was signed/],
])('a refusal for its time says by how much the clocks differ: %s', (_, seconds, told) => {
  const sent = { id: 0x1234, mac: request.mac, key, zone: 'lab.test', server: '127.0.0.1:53', fudge: 6 }
  const other = Buffer.alloc(6)
  other.writeUIntBE(SECONDS - 3600, 0, 6)
  const bytes = answer({ flags: 0xa809, error: 18, other, fudge: 6 })
  const verdict = judgeUpdate(sent, { kind: 'message', bytes }, seconds)
  expect(verdict).toMatchObject({ kind: 'refused', message: expect.stringMatching(told) })
})

const stranger = { ...served, secret: Buffer.from('another').toString('base64') }
test.each<[string, Buffer, RegExp]>([
  ['without a signature', unsignedAnswer(request.wire), /is not signed/],
  ['with the MAC cut short', answer({ macLength: 16 }), /wrong signature/],
  ['with the MAC cut to nothing', answer({ macLength: 0 }), /wrong signature/],
  ['signed with another secret', answer({}, stranger), /wrong signature/],
  ['signed with a key of another name', answer({}, { ...served, name: 'other.test' }), /another key/],
  ['signed with another algorithm', answer({}, { ...served, algorithm: 'hmac-sha512' }), /another key/],
  ['to another request', answer({ requestMac: Buffer.alloc(32, 7) }), /wrong signature/],
  ['signed like a request', signRequest(unsignedAnswer(request.wire), key, SECONDS, FUDGE).wire, /wrong signature/],
  ['that is our own request', request.wire, /wrong signature/],
  ['with octets behind the signature', Buffer.concat([answer(), Buffer.from([0])]), /cannot be read/],
  ['that ends in its midst', answer().subarray(0, -1), /cannot be read/],
  ['that is empty', Buffer.alloc(0), /cannot be read/],
])('an answer proves nothing: %s', (_, bytes, reason) => expect(judge(bytes)).toEqual(unproven(reason)))

test('an answer proves nothing once any octet of it was changed', () => {
  const genuine = answer()
  // The id is not signed: the caller compares it. Letters of names are signed in lower case.
  const at = fc.integer({ min: 2, max: genuine.length - 1 })
  const change = fc.record({ at, by: fc.integer({ min: 1, max: 255 }) })
  forSome(2000, change, ({ at, by }) => {
    const tampered = Buffer.from(genuine)
    tampered.writeUInt8(genuine.readUInt8(at) ^ by, at)
    fc.pre(tampered.toString('latin1').toLowerCase() !== genuine.toString('latin1').toLowerCase())
    expect(judge(tampered).kind).toBe('unproven')
  })
})

test.each([
  [17, 'BADKEY'],
  [16, 'BADSIG'],
  [99, 'TSIG error 99'],
])('a server that cannot accept our signature complains without one: %i is %s', (code, error) =>
  expect(judge(answer({ flags: 0xa809, error: code, macLength: 0 }))).toEqual({ kind: 'complaint', error }),
)

describe('whatever comes', () => {
  const sent = { id: 0x1234, mac: request.mac, key, zone: 'lab.test', server: '127.0.0.1:53', fudge: 6 }
  const cuts = fc.tuple(fc.nat(200), fc.uint8Array({ maxLength: 100 }))
  const bent = cuts.map(([at, noise]) => Buffer.concat([answer().subarray(0, at), noise]))
  const noise = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))

  test('under another number is not the answer to the update, although its signature is right', () => {
    const other = answer()
    expect(judgeUpdate(sent, { kind: 'message', bytes: other }, SECONDS)).toMatchObject({ rcode: 'NOERROR' })
    other.writeUInt16BE(0x4321)
    expect(judge(other).kind).toBe('genuine')
    expect(judgeUpdate(sent, { kind: 'message', bytes: other }, SECONDS)).toMatchObject({ kind: 'unknown' })
  })

  test('is judged without a throw and never taken for success', () =>
    forSome(2000, fc.oneof(bent, noise), (bytes) => {
      fc.pre(!bytes.equals(answer()))
      expect(judge(bytes).kind).not.toBe('genuine')
      expect(judgeUpdate(sent, { kind: 'message', bytes }, SECONDS)).toBeInstanceOf(DnsWriteFault)
    }))
})

test('a key shows its secret nowhere', () => {
  const inspected = inspect(key, { showHidden: true, depth: 9 })
  const shown = [JSON.stringify(key), JSON.stringify({ ...key }), String(key), inspected]
  for (const text of shown) {
    expect(text).not.toContain(settings.secret)
    expect(text).not.toContain('canary')
  }
})
