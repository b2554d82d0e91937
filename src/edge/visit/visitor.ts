import { connect, type Socket } from 'node:net'
import { connect as connectSecurely, createSecureContext, type TLSSocket } from 'node:tls'
import { type Endpoint, formatEndpoint } from '../../model/address.ts'
import type { Clock } from '../../primitives/clock.ts'
import { FairClock } from '../../primitives/fair-clock.ts'
import { LruCache } from '../../primitives/lru-cache.ts'
import type { EdgeAnswer, EdgeVisit, EdgeVisitor } from '../contract/visit.ts'
import { ANSWER, type EntryProof, entryIn, entryProof, QUESTION, UNKNOWN_HOST } from '../record/proof.ts'
import { certificateServed, noAnswerReason } from './ask.ts'

/** A body up to this size is read so that the connection can be reused. With a larger body the connection is closed. */
const MAX_BODY_BYTES = 16 * 1024
const MAX_IDLE = 64
const MAX_SESSIONS = 20_000

/**
 * Sends repeated requests for many hosts at low cost. Plain connections are kept open and carry requests for any host. A TLS
 * connection belongs to one name, so each request opens a new one, which resumes the host's TLS session. A full visit does
 * not resume a session, so it sees the certificate that is served now.
 */
export function edgeVisitor(limitMs: number, clock: Clock): EdgeVisitor {
  const limit = { limitMs, clock }
  const idle = new IdleConnections()
  const sessions = new Sessions()
  const visit = (question: EdgeVisit): Promise<EdgeAnswer> => {
    const socket = question.tls ? undefined : idle.take(question.listenAddress)
    if (!socket) return new Exchange(question, openSocket(question, sessions), limit, idle).answer
    // The edge may have closed the idle connection at the same time. That says nothing about the host.
    return new Exchange(question, socket, limit, idle).answer.then((answer) =>
      answer.kind === 'no_answer' && answer.reason !== 'timeout' && answer.reason !== 'unknown_host'
        ? new Exchange(question, openSocket(question, sessions), limit, idle).answer
        : answer,
    )
  }
  return {
    async visit(question) {
      const answer = await visit(question)
      if (!question.tls || answer.kind === 'answer' || answer.reason !== 'handshake_refused') return answer
      return sessions.allowTls13(question) ? visit(question) : answer
    },
    forget: (host) => sessions.forget(host),
    close: () => idle.close(),
  }
}

function openSocket(question: EdgeVisit, sessions: Sessions): Socket {
  const { address, port } = question.listenAddress
  return question.tls ? sessions.connect(question) : connect({ host: address, port, noDelay: true })
}

interface VisitLimit {
  readonly limitMs: number
  readonly clock: Clock
}

/** One request and its response on one connection. */
class Exchange {
  readonly answer: Promise<EdgeAnswer>
  readonly #question: EdgeVisit
  readonly #proof: EntryProof | undefined
  readonly #socket: Socket
  readonly #idle: IdleConnections
  readonly #clock: FairClock
  #received: Buffer = Buffer.alloc(0)
  #head: AnswerHead | undefined
  #isSecured = false
  #settle: (answer: EdgeAnswer) => void = () => undefined

  constructor(question: EdgeVisit, socket: Socket, limit: VisitLimit, idle: IdleConnections) {
    this.#clock = new FairClock(limit.clock)
    this.#question = question
    this.#proof = question.proof === undefined ? undefined : entryProof(question.proof, question.host)
    this.#socket = socket
    this.#idle = idle
    this.answer = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#clock.limit(limit.limitMs, () => this.#fail('ETIMEDOUT'))
    socket.on('data', this.#onBytes)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
    if (question.tls) socket.once('secureConnect', this.#onSecured)
    socket.write(requestText(question, this.#proof))
  }

  readonly #onBytes = (bytes: Buffer): void => {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
    this.#head ??= this.#readHead()
    if (!this.#head) return
    const { bodyAt, bodyLength, keepsAlive } = this.#head
    const isWhole = bodyLength !== undefined && this.#received.length >= bodyAt + bodyLength
    const isWorthReading = keepsAlive && !this.#question.tls && bodyLength !== undefined && bodyLength <= MAX_BODY_BYTES
    if (isWhole || !isWorthReading) this.#end(this.#head, isWhole && isWorthReading)
  }

  readonly #onSecured = (): void => {
    this.#isSecured = true
  }
  readonly #onError = (error: NodeJS.ErrnoException): void => this.#fail(error.code)
  readonly #onClose = (): void => this.#fail(undefined)

  #readHead(): AnswerHead | undefined {
    const head = readHead(this.#received)
    if (head === null) this.#fail(undefined)
    return head ?? undefined
  }

  #end({ httpStatus, header }: AnswerHead, isReusable: boolean): void {
    const latencyMs = Math.round(this.#clock.elapsedMs)
    const certificate =
      this.#question.tls && this.#question.full
        ? certificateServed(this.#socket as TLSSocket, this.#question.host)
        : undefined
    const isUnknown = header(UNKNOWN_HOST.header.toLowerCase()) === UNKNOWN_HOST.value
    const entry = entryIn(this.#proof, header(ANSWER.toLowerCase()))
    this.#detach()
    if (isReusable) this.#idle.put(this.#question.listenAddress, this.#socket)
    else this.#socket.destroy()
    this.#settle(
      isUnknown
        ? { kind: 'no_answer', reason: 'unknown_host' }
        : { kind: 'answer', httpStatus, latencyMs, ...(entry && { entry }), ...(certificate && { certificate }) },
    )
  }

  #fail(code: string | undefined): void {
    this.#detach()
    this.#socket.destroy()
    const handshaking = this.#question.tls && !this.#isSecured
    this.#settle({ kind: 'no_answer', reason: noAnswerReason(code, handshaking) })
  }

  #detach(): void {
    this.#clock.stop()
    this.#socket.off('data', this.#onBytes)
    this.#socket.off('error', this.#onError)
    this.#socket.off('close', this.#onClose)
    this.#socket.on('error', () => undefined)
  }
}

const requestText = ({ host, path, tls }: EdgeVisit, proof: EntryProof | undefined): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: drawbridge\r\nAccept: */*\r\n${
    proof ? `${QUESTION}: ${proof.question}\r\n` : ''
  }Connection: ${tls ? 'close' : 'keep-alive'}\r\n\r\n`

/** Plain connections that wait for the next request. */
class IdleConnections {
  readonly #waiting = new Map<string, Socket[]>()
  #closed = false

  take(endpoint: Endpoint): Socket | undefined {
    const socket = this.#waiting.get(formatEndpoint(endpoint))?.pop()
    socket?.removeAllListeners('close').removeAllListeners('data').removeAllListeners('error')
    return socket?.ref()
  }

  put(endpoint: Endpoint, socket: Socket): void {
    const key = formatEndpoint(endpoint)
    const waiting = this.#waiting.get(key) ?? []
    if (this.#closed || waiting.length >= MAX_IDLE || socket.destroyed) {
      socket.destroy()
      return
    }
    this.#waiting.set(key, waiting)
    // An idle connection must not keep the process alive.
    waiting.push(socket.unref())
    // An idle connection that receives data or is closed is not used again.
    socket.on('data', () => socket.destroy())
    socket.on('close', () => {
      const place = waiting.indexOf(socket)
      if (place >= 0) waiting.splice(place, 1)
    })
  }

  close(): void {
    this.#closed = true
    for (const waiting of this.#waiting.values()) for (const socket of [...waiting]) socket.destroy()
  }
}

/**
 * The TLS session of each host. Resuming a TLS 1.2 session costs half as much as a TLS 1.3 session, so TLS 1.2 is used
 * between full visits, except for hosts that reject it.
 */
class Sessions {
  /** As text with one character per byte: a stored buffer would keep its whole memory pool alive. */
  readonly #sessions = new LruCache<string, string>(MAX_SESSIONS)
  readonly #needTls13 = new Set<string>()
  readonly #anyTls = createSecureContext({ minVersion: 'TLSv1.2' })
  readonly #tls12 = createSecureContext({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })

  connect({ host, listenAddress, full }: EdgeVisit): TLSSocket {
    const modern = full || this.#needTls13.has(host)
    const session = full ? undefined : this.#sessions.get(host)
    const socket = connectSecurely({
      host: listenAddress.address,
      port: listenAddress.port,
      servername: host,
      secureContext: modern ? this.#anyTls : this.#tls12,
      // The issuer of the certificate does not matter here. Callers check its names and dates.
      rejectUnauthorized: false,
      ...(session !== undefined && { session: Buffer.from(session, 'latin1') }),
    })
    if (!full) socket.on('session', (fresh: Buffer) => this.#keep(host, fresh))
    return socket
  }

  /** True when TLS 1.3 was not allowed for this host before: then a retry makes sense. */
  allowTls13({ host, full }: EdgeVisit): boolean {
    if (full || this.#needTls13.has(host)) return false
    this.#needTls13.add(host)
    this.#sessions.delete(host)
    return true
  }

  forget(host: string): void {
    this.#sessions.delete(host)
    this.#needTls13.delete(host)
  }

  #keep(host: string, session: Buffer): void {
    this.#sessions.set(host, session.toString('latin1'))
  }
}

/** The parts of an HTTP/1 response head that are used here. */
interface AnswerHead {
  readonly httpStatus: number
  /** The offset of the body. */
  readonly bodyAt: number
  /** The length of the body in bytes; undefined when the head does not say it. */
  readonly bodyLength: number | undefined
  /** Whether the connection may be used for another request. */
  readonly keepsAlive: boolean
  header(name: string): string | undefined
}

const MAX_HEAD_BYTES = 64 * 1024

/** The head of the final response; undefined when it is incomplete, null when it is not HTTP/1. Interim responses (1xx) are skipped. */
function readHead(bytes: Buffer): AnswerHead | undefined | null {
  for (let from = 0; ; ) {
    const end = bytes.indexOf('\r\n\r\n', from)
    if (end < 0) return bytes.length > MAX_HEAD_BYTES || !couldBeHttp(bytes, from) ? null : undefined
    const lines = bytes.toString('latin1', from, end).split('\r\n')
    const [, version, code] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(lines[0] ?? '') ?? []
    if (code === undefined) return null
    const httpStatus = Number(code)
    if (httpStatus >= 200) return headOf(httpStatus, version === '1', lines.slice(1), end + 4)
    if (httpStatus === 101) return null
    from = end + 4
  }
}

const couldBeHttp = (bytes: Buffer, from: number): boolean =>
  'HTTP/1.'.startsWith(bytes.toString('latin1', from, from + 7))

function headOf(httpStatus: number, modern: boolean, lines: readonly string[], bodyAt: number): AnswerHead {
  const header = (name: string) => {
    const line = lines.find((candidate) => candidate.slice(0, name.length + 1).toLowerCase() === `${name}:`)
    return line?.slice(name.length + 1).trim()
  }
  const length = header('content-length')
  const bodyLength =
    httpStatus === 204 || httpStatus === 304
      ? 0
      : length !== undefined && /^\d{1,15}$/.test(length) && header('transfer-encoding') === undefined
        ? Number(length)
        : undefined
  const keepsAlive = modern && header('connection')?.toLowerCase() !== 'close'
  return { httpStatus, bodyAt, bodyLength, keepsAlive, header }
}
