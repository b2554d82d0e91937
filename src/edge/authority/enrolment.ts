import { createHash, randomBytes, timingSafeEqual, X509Certificate } from 'node:crypto'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import type { Clock } from '../../primitives/clock.ts'
import { keyFingerprint } from './authority.ts'
import type { EdgeTrust } from './trust.ts'

const LIFE_MS = 15 * 60_000
const MOST_TRIES = 5
const MOST_BYTES = 16 * 1024
const CONNECT_MS = 20_000

/** The content of the one-time code: where to fetch the certificate, how to identify that place, and the secret. */
interface Code {
  readonly server: string
  readonly address: string
  readonly port: number
  /** The SHA-256 of the certificate that the place shows. */
  readonly shown: string
  readonly secret: string
}

const CodeShape = Type.Tuple([Type.String(), Type.String(), Type.Integer(), Type.String(), Type.String()])
const JoinShape = Type.Object(
  {
    secret: Type.String({ maxLength: 100 }),
    server: Type.String({ maxLength: 32 }),
    publicKey: Type.String({ maxLength: 1_000 }),
  },
  { additionalProperties: false },
)
const JoinedShape = Type.Object(
  { certificate: Type.String({ maxLength: 8_192 }), ca: Type.String({ maxLength: 8_192 }) },
  { additionalProperties: false },
)

const writeCode = ({ server, address, port, shown, secret }: Code): string =>
  Buffer.from(JSON.stringify([server, address, port, shown, secret])).toString('base64url')

function readCode(text: string): Code {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (Check(CodeShape, value)) {
      const [server, address, port, shown, secret] = value
      return { server, address, port, shown, secret }
    }
  } catch {
    // Told below.
  }
  throw new Error('This is not a code of "drawbridge edge enroll". Copy all of it.')
}

export interface Enrolment {
  readonly code: string
  readonly expiresAt: number
  /**
   * Resolves when the agent has fetched its certificate. Rejects when the time is over, after too many wrong codes, or if the key of the
   * agent was not confirmed.
   */
  readonly joined: Promise<void>
  readonly close: () => void
}

interface EnrolmentParts {
  readonly clock: Clock
  /** Resolves if the key with this fingerprint is that of the agent. Rejects with a sentence if it is not. */
  readonly confirm: (fingerprint: string) => Promise<void>
}

/**
 * Waits for one agent to fetch its certificate. The code is stored in no file, and is valid once, only while this waits. The agent
 * identifies this place by the certificate whose hash is in the code, so a machine in between can neither read nor change anything.
 * A person who has seen the code could come first with another key: nothing is enrolled before the key is confirmed.
 */
export async function openEnrolment(
  trust: EdgeTrust,
  { server, address, port }: { readonly server: string; readonly address: string; readonly port: number },
  { clock, confirm }: EnrolmentParts,
): Promise<Enrolment> {
  const { cert, key } = (await trust.authority()).issueEnrolment(clock.now(), LIFE_MS)
  const secret = new OneTimeSecret()
  const { promise: joined, resolve, reject } = Promise.withResolvers<void>()
  const listener = createServer({ cert, key, minVersion: 'TLSv1.3', maxHeaderSize: 4_096 }, async (asked, answer) => {
    const refuse = (status: number, then?: () => void) =>
      void answer.writeHead(status, { connection: 'close' }).end(then)
    const wish = await wishOf(asked, server)
    if (!wish) return refuse(400)
    // No await between here and the use of the secret: of two concurrent requests only one continues.
    if (!secret.use(wish.secret))
      return refuse(WRONG_CODE, secret.isGuessed ? () => reject(new Error(TOO_MANY_GUESSES)) : undefined)
    try {
      await confirm(keyFingerprint(wish.publicKey))
      if (answer.destroyed) throw new Error('The agent has gone away meanwhile. Nothing was enrolled. Make a new code.')
      const issued = await trust.enroll(server, wish.publicKey)
      answer.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
      answer.end(JSON.stringify(issued), () => resolve())
    } catch (error) {
      if (answer.destroyed) reject(error)
      else refuse(NOT_CONFIRMED, () => reject(error))
    }
  })
  listener.maxConnections = 8
  await new Promise<void>((listening, failed) => listener.once('error', failed).listen(port, address, listening))
  const late = () => reject(new Error('Nobody came with the code in time. Nothing was enrolled.'))
  const timer = clock.after(LIFE_MS, late)
  const close = () => {
    timer.cancel()
    listener.close()
    listener.closeAllConnections()
  }
  const code = writeCode({
    server,
    address,
    port: (listener.address() as AddressInfo).port,
    shown: new X509Certificate(cert).fingerprint256,
    secret: secret.text,
  })
  const ended = joined.finally(close)
  // The caller that awaits it handles the rejection.
  ended.catch(() => undefined)
  return { code, expiresAt: clock.now() + LIFE_MS, joined: ended, close }
}

const WRONG_CODE = 401
const NOT_CONFIRMED = 403

const TOO_MANY_GUESSES =
  `Too many wrong codes came (${MOST_TRIES}), so this code has ended and nothing was enrolled. Find out who else reaches this port, ` +
  'then make a new code.'

class OneTimeSecret {
  readonly text = randomBytes(20).toString('base64url')
  #isUsed = false
  #guesses = 0

  get isGuessed(): boolean {
    return this.#guesses >= MOST_TRIES
  }

  /** True for the first caller with the right secret. */
  use(given: string): boolean {
    const isRight = isSame(given, this.text)
    if (!isRight) this.#guesses += 1
    if (!isRight || this.#isUsed || this.isGuessed) return false
    this.#isUsed = true
    return true
  }
}

/** Undefined if it is not a request of this server's agent. */
async function wishOf(asked: AsyncIterable<Buffer>, server: string) {
  try {
    const wish: unknown = JSON.parse(await bodyOf(asked))
    return Check(JoinShape, wish) && wish.server === server ? wish : undefined
  } catch {
    return undefined
  }
}

/** Fetches the certificate for a key; waits until a person has confirmed it there. Rejects with a sentence if the place is not the one that the code names. */
export async function joinWith(
  text: string,
  server: string,
  publicKey: string,
  clock: Clock,
): Promise<{ readonly certificate: string; readonly ca: string }> {
  const code = readCode(text)
  if (code.server !== server)
    throw new Error(
      `The code is for edge ${code.server.replaceAll(/[^A-Za-z0-9-]/g, '?')}, and edge.yaml says ${server}.`,
    )
  const body = JSON.stringify({ secret: code.secret, server, publicKey })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const asking = request({
    host: code.address,
    port: code.port,
    method: 'POST',
    path: '/join',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    // The hash identifies the certificate, before anything is sent.
    rejectUnauthorized: false,
    agent: false,
    minVersion: 'TLSv1.3',
  })
  const giveUp = () => asking.destroy(new Error('no answer in time'))
  let timer = clock.after(CONNECT_MS, giveUp)
  asking.once('error', (error) =>
    reject(new Error(`The service could not be reached at ${code.address}:${code.port} (${error.message}).`)),
  )
  asking.once('socket', (socket) =>
    socket.once('secureConnect', () => {
      const shown = (socket as TLSSocket).getPeerX509Certificate()?.fingerprint256
      timer.cancel()
      timer = clock.after(LIFE_MS, giveUp)
      if (shown === code.shown) asking.end(body)
      else asking.destroy(new Error('another program answers there'))
    }),
  )
  asking.once('response', (answer) => {
    if (answer.statusCode === 200) bodyOf(answer).then(resolve, reject)
    else reject(new Error(refusalOf(answer.statusCode, server)))
  })
  const joined = parsed(await promise.finally(() => timer.cancel()))
  if (!Check(JoinedShape, joined)) throw new Error('The service gave an answer that has not the form of one.')
  return joined
}

function refusalOf(status: number | undefined, server: string): string {
  const enroll = `"drawbridge edge enroll ${server}"`
  if (status === WRONG_CODE)
    return `The service refused the code: it is wrong, or somebody has used it already. Run ${enroll} again, and use the code that it prints.`
  if (status === NOT_CONFIRMED)
    return `The key of this agent was not confirmed. See what ${enroll} says, and make a new code.`
  return `The service refused the message of this agent (${status}). Are both of the same version? See what ${enroll} says.`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function bodyOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > MOST_BYTES) throw new Error('The message is too long.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
