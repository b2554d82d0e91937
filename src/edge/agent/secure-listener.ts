import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Endpoint } from '../../model/address.ts'
import type { Timer } from '../../primitives/clock.ts'
import type { AgentIdentity } from '../authority/agent-identity.ts'
import { isIssuedBy, serviceIn } from '../authority/authority.ts'
import { closeServer, contextOf, type ServerParts, secureAgentServer } from './server.ts'

/** How often the listener checks for a newly installed certificate. */
const LOOK_MS = 1_000

/**
 * Listens for services on other machines when the agent has a certificate, and uses a new one when it is installed. Accepts only
 * services: the certificate of another agent is not enough.
 */
export class SecureListener {
  readonly #parts: Omit<ServerParts, 'refusalOf'>
  readonly #identity: AgentIdentity
  readonly #at: Endpoint
  #server: Server | undefined
  #stamp = ''
  #told = ''
  /** The certificate of the authority that enrolled this agent last. */
  #ca = ''
  /** The highest seen edition of its services. */
  #edition = 0
  #timer: Timer | undefined
  #isClosed = false

  constructor(parts: Omit<ServerParts, 'refusalOf'>, identity: AgentIdentity, at: Endpoint) {
    this.#parts = parts
    this.#identity = identity
    this.#at = at
  }

  /** `onFault`: called once for each reason why it does not listen. */
  start(onFault: (error: Error) => void): void {
    const look = async () => {
      await this.#look().catch((error: Error) => {
        if (error.message !== this.#told) onFault(error)
        this.#told = error.message
      })
      // Stop if the listener closed during this check: another timer would keep the process alive for ever.
      if (!this.#isClosed) this.#timer = this.#parts.clock.after(LOOK_MS, look)
    }
    void look()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    if (this.#server) await closeServer(this.#server, this.#parts.clock)
  }

  async #look(): Promise<void> {
    const { stamp } = this.#identity
    if (stamp === this.#stamp && this.#server) return
    const shown = this.#identity.read()
    if (!shown)
      throw new Error(
        'The agent has no certificate yet. Run "drawbridge edge enroll" where the service is, then "drawbridge edge join" here.',
      )
    if (this.#server) {
      this.#server.setSecureContext(contextOf(shown))
      this.#trust(shown.ca)
    } else {
      this.#trust(shown.ca)
      const server = secureAgentServer({ ...this.#parts, refusalOf: (socket) => this.#refusalOf(socket) }, shown)
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(this.#at.port, this.#at.address, resolve),
      )
      this.#server = server
      if (this.#isClosed) await closeServer(server, this.#parts.clock)
    }
    this.#stamp = stamp
    this.#told = ''
  }

  #trust(ca: string): void {
    if (ca === this.#ca) return
    this.#ca = ca
    this.#edition = this.#identity.editionOf(ca)
    // A new context counts for new handshakes only.
    this.#server?.closeAllConnections()
  }

  #refusalOf(socket: Socket): string | undefined {
    const certificate = (socket as TLSSocket).getPeerX509Certificate()
    const service = serviceIn(certificate?.subjectAltName)
    if (!certificate || !service) return 'The certificate is not that of a service.'
    // A handshake that began before a join ends after it, and is in no list of connections until then.
    if (!isIssuedBy(certificate, this.#ca)) return 'The certificate is not of the authority that enrolled this agent.'
    // A connection may be kept for longer than its certificate is valid.
    if (this.#parts.clock.now() > certificate.validToDate.getTime()) return 'The certificate has run out.'
    if (service.edition < this.#edition) return 'The certificate was revoked.'
    if (service.edition > this.#edition) {
      this.#edition = service.edition
      this.#identity
        .raiseEdition(service.edition, this.#ca)
        .catch((error: unknown) => this.#parts.onUnexpected(error, 'edition'))
    }
    return undefined
  }
}
