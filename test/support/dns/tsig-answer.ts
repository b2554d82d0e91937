import { createHmac } from 'node:crypto'
import type { TsigKeySettings } from '../../../src/dns/tsig.ts'
import { u16, u48 } from '../../../src/dns/wire/bytes.ts'
import { encodeName } from '../../../src/dns/wire/name.ts'
import { appendTsig, splitTsig } from '../../../src/dns/wire/tsig.ts'

export const UPDATE_ANSWER = 0xa800

export interface AnswerTraits {
  readonly flags?: number
  readonly error?: number
  readonly other?: Buffer
  readonly seconds?: number
  readonly fudge?: number
  /** Octets of the MAC that are sent. */
  readonly macLength?: number
  /** The MAC of the request that is answered; by default that of the request given. */
  readonly requestMac?: Buffer
}

/** An answer without records to a signed request, signed by RFC 8945 section 4.3, with the changes of a test. */
export function signedAnswer(request: Buffer, key: TsigKeySettings, traits: AnswerTraits = {}): Buffer {
  const { flags = UPDATE_ANSWER, error = 0, other = Buffer.alloc(0), fudge = 300 } = traits
  const time = traits.seconds ?? Math.floor(Date.now() / 1000)
  const requestMac = traits.requestMac ?? splitTsig(request)?.tsig.mac ?? Buffer.alloc(0)
  const message = unsignedAnswer(request, flags)
  const mac = createHmac(key.algorithm.replace('hmac-', ''), Buffer.from(key.secret, 'base64'))
    .update(u16(requestMac.length))
    .update(requestMac)
    .update(message)
    .update(encodeName(key.name))
    .update(Buffer.from('00ff00000000', 'hex'))
    .update(encodeName(key.algorithm))
    .update(u48(time))
    .update(u16(fudge, error, other.length))
    .update(other)
    .digest()
    .subarray(0, traits.macLength)
  const originalId = request.readUInt16BE(0)
  return appendTsig(message, { key: key.name, algorithm: key.algorithm, time, fudge, mac, originalId, error, other })
}

export const unsignedAnswer = (request: Buffer, flags = UPDATE_ANSWER): Buffer =>
  u16(request.readUInt16BE(0), flags, 0, 0, 0, 0)
