import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { MalformedMessage, u16 } from './wire/bytes.ts'
import { appendTsig, type SplitMessage, splitTsig, type Tsig, tsigVariables } from './wire/tsig.ts'

/** The allowed difference of the two clocks in seconds, as RFC 8945 section 10 recommends. */
export const FUDGE = 300
/**
 * The same for an update that changes something. It is short, because after an unknown outcome nobody can tell what became of the
 * update before its signature has run out.
 */
export const CHANGE_FUDGE = 6
const HASHES = { 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' } as const
const BADTIME = 18
const ERRORS: Readonly<Record<number, string>> = { 16: 'BADSIG', 17: 'BADKEY', [BADTIME]: 'BADTIME', 22: 'BADTRUNC' }

export interface TsigKeySettings {
  readonly name: string
  readonly algorithm: keyof typeof HASHES
  /** In base64. */
  readonly secret: string
}

/** A key that can sign. Its secret never appears in JSON, logs or errors. */
export class TsigKey {
  readonly name: string
  readonly algorithm: TsigKeySettings['algorithm']
  readonly #secret: KeyObject

  constructor({ name, algorithm, secret }: TsigKeySettings) {
    this.name = name.replace(/\.$/, '').toLowerCase()
    this.algorithm = algorithm
    this.#secret = createSecretKey(Buffer.from(secret, 'base64'))
  }

  mac(...parts: readonly Buffer[]): Buffer {
    return createHmac(HASHES[this.algorithm], this.#secret).update(Buffer.concat(parts)).digest()
  }
}

export interface SignedRequest {
  readonly wire: Buffer
  readonly mac: Buffer
}

/** `seconds`: since 1970. `fudge`: for how many seconds the server may accept the message. */
export function signRequest(message: Buffer, key: TsigKey, seconds: number, fudge: number): SignedRequest {
  const { name, algorithm } = key
  const signing = { key: name, algorithm, time: seconds, fudge, error: 0, other: Buffer.alloc(0) }
  const mac = key.mac(message, tsigVariables(signing))
  return { wire: appendTsig(message, { ...signing, mac, originalId: message.readUInt16BE(0) }), mac }
}

export type Authenticity =
  /**
   * Signed with our key, for this request, at the current time. `error`: the server's objection to our own TSIG.
   * `serverSeconds`: the server's clock, since 1970.
   */
  | { readonly kind: 'genuine'; readonly error: string | undefined; readonly serverSeconds: number }
  /** The server did not accept our signature, so it could not sign its answer. */
  | { readonly kind: 'complaint'; readonly error: string }
  /** Nothing in the answer is reliable. `reason` is a clause that continues "the answer". */
  | { readonly kind: 'unproven'; readonly reason: string }

/** Checks the answer to the request with this MAC (RFC 8945 section 5.3). Never throws. */
export function authenticate(answer: Buffer, requestMac: Buffer, key: TsigKey, seconds: number): Authenticity {
  const parts = splitOrReason(answer)
  if (typeof parts === 'string') return unproven(parts)
  const { message, tsig } = parts
  const error = tsig.error === 0 ? undefined : (ERRORS[tsig.error] ?? `TSIG error ${tsig.error}`)
  if (tsig.key !== key.name || tsig.algorithm !== key.algorithm) return unproven('is signed with another key')
  if (error && tsig.mac.length === 0) return { kind: 'complaint', error }
  const expected = key.mac(u16(requestMac.length), requestMac, message, tsigVariables(tsig))
  // A truncated MAC is never accepted: Drawbridge does not offer truncation, so a server does not use it.
  if (tsig.mac.length !== expected.length || !timingSafeEqual(tsig.mac, expected))
    return unproven('has a wrong signature')
  // A BADTIME answer repeats our own time. It belongs to this request alone, because its signature covers that of the request.
  if (tsig.error !== BADTIME && Math.abs(seconds - tsig.time) > tsig.fudge)
    return unproven('was signed at another time')
  return { kind: 'genuine', error, serverSeconds: serverClock(tsig) }
}

/** A BADTIME answer repeats our own time, and has the server's time in `other` (section 5.2.3). */
const serverClock = ({ time, error, other }: Tsig): number =>
  error === BADTIME && other.length === 6 ? other.readUIntBE(0, 6) : time

function splitOrReason(answer: Buffer): SplitMessage | string {
  try {
    return splitTsig(answer) ?? 'is not signed'
  } catch (error) {
    if (error instanceof MalformedMessage) return 'cannot be read'
    throw error
  }
}

const unproven = (reason: string): Authenticity => ({ kind: 'unproven', reason })
