import { X509Certificate } from 'node:crypto'
import type { Pool } from 'undici'
import type { Clock } from '../../primitives/clock.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { edgeName, isDueForReplacement } from '../authority/authority.ts'
import type { ServiceIdentity } from '../authority/trust.ts'

/** How an agent is reached. `tls`: the certificate of this service, and the authority of the agent's. */
export type AgentAddress = { readonly socket: string } | SecureAddress

interface SecureAddress {
  readonly address: string
  readonly port: number
  readonly tls: AgentTls
}

interface AgentTls {
  /** What this service shows now, and which certificates of the agent it accepts. Asked every few seconds. */
  readonly identity: () => Promise<ServiceIdentity>
  /** Called with the fingerprint of the certificate that the agent shows, when it should be replaced. */
  readonly onDue: (fingerprint: string) => void
}

interface ConnectionParts {
  readonly server: string
  readonly at: AgentAddress
  readonly clock: Clock
}

const CONNECT_MS = 2_000
const POOL = { connections: 64, pipelining: 1, keepAliveTimeout: 60_000, keepAliveMaxTimeout: 100_000 }
/** How long an identity counts. After this time a revoked certificate is not accepted any more. */
const IDENTITY_MS = 3_000

/** The connections to one agent, which are kept between messages. */
export class AgentConnection {
  readonly #parts: ConnectionParts
  readonly #onEnd: () => void
  #pool: Pool | undefined
  #identity: { readonly shown: ServiceIdentity; readonly at: number } | undefined

  /** `onEnd`: called when the connections were ended. */
  constructor(parts: ConnectionParts, onEnd: () => void) {
    this.#parts = parts
    this.#onEnd = onEnd
  }

  /** Ends all connections. The next message opens new ones, with the present certificate. */
  end(): void {
    const former = this.#pool
    this.#pool = undefined
    this.#onEnd()
    void former?.destroy().catch(() => undefined)
  }

  async pool(): Promise<Pool> {
    const { at, server, clock } = this.#parts
    // Loaded with the first message, because many installations have no agent.
    const { Pool } = await import('undici')
    if ('socket' in at) {
      this.#pool ??= new Pool('http://edge', { ...POOL, connect: { socketPath: at.socket, timeout: CONNECT_MS } })
      return this.#pool
    }
    const now = clock.monotonic()
    if (!this.#identity || now - this.#identity.at > IDENTITY_MS) {
      // Without the store, use the identity that was known last.
      const shown = await at.tls.identity().catch((error: unknown) => {
        if (this.#identity) return this.#identity.shown
        throw error
      })
      if (this.#identity && this.#identity.shown.version !== shown.version) this.end()
      this.#identity = { shown, at: now }
    }
    this.#pool ??= new Pool(originOf(at), { ...POOL, connect: secureConnect(at, server, this.#identity.shown, clock) })
    return this.#pool
  }
}

const originOf = ({ address, port }: SecureAddress): string =>
  `https://${address.includes(':') ? `[${address}]` : address}:${port}`

function secureConnect(
  { tls }: SecureAddress,
  server: string,
  shown: ServiceIdentity,
  clock: Clock,
): Pool.Options['connect'] {
  const { ca, cert, key, assertEnrolled } = shown
  return {
    ...{ ca, cert, key, minVersion: 'TLSv1.3', servername: edgeName(server), timeout: CONNECT_MS },
    // A revoked certificate must not be hidden behind a former session.
    maxCachedSessions: 0,
    checkServerIdentity: (_, { raw }) => {
      try {
        const certificate = new X509Certificate(raw)
        assertEnrolled(certificate)
        if (isDueForReplacement(certificate.toString(), clock.now())) tls.onDue(certificate.fingerprint256)
        return undefined
      } catch (error) {
        return error instanceof Error ? error : new Error('its certificate cannot be read')
      }
    },
  }
}

/** Errors with which a message has certainly not been sent. */
export const isUnsent = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOENT', 'EACCES', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    errorCode(error) ?? '',
  )

/** Why a connection failed, in words. */
export const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'there is no socket',
  EACCES: 'this user may not connect to the socket',
  ECONNRESET: 'it ended the connection',
  EPIPE: 'it ended the connection',
  UND_ERR_SOCKET: 'it ended the connection',
  UND_ERR_DESTROYED: 'its machine does not answer, or its certificate has changed',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  EHOSTUNREACH: 'the machine cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
}
