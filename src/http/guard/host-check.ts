import type { FastifyRequest } from 'fastify'
import { formatEndpoint, parseAddress } from '../../model/address.ts'
import { Problem } from '../../model/errors.ts'

/**
 * Checks the Host header (against DNS rebinding) and the Origin header of browsers (against CSRF). Both must name this
 * service: the address and port of the socket, or one of the configured publicUrls.
 */
export class HostCheck {
  readonly #publicUrls: () => readonly string[]
  readonly #scheme: 'http' | 'https'

  constructor(publicUrls: () => readonly string[], scheme: 'http' | 'https') {
    this.#publicUrls = publicUrls
    this.#scheme = scheme
  }

  check(request: FastifyRequest): void {
    const ours = new Set([...this.#publicUrls(), ...this.#ownOrigins(request)])
    if (!this.#isOurHost(request, ours)) {
      throw new Problem('host_not_allowed', 'The Host header is not an address of this service.')
    }
    const { origin } = request.headers
    if (origin !== undefined && !ours.has(origin.toLowerCase())) {
      throw new Problem('origin_not_allowed', 'The Origin header is not an address of this service.')
    }
  }

  #ownOrigins({ socket }: FastifyRequest): string[] {
    const address = parseAddress(socket.localAddress ?? '')
    return address ? [originOf(this.#scheme, formatEndpoint({ address, port: socket.localPort ?? 0 }))] : []
  }

  /** A Host header has no scheme. Behind a proxy that terminates TLS it belongs to an https address, so both are tried. */
  #isOurHost(request: FastifyRequest, ours: ReadonlySet<string>): boolean {
    const host = soleHost(request)
    if (host === undefined || !/^[A-Za-z0-9.:[\]-]+$/.test(host)) return false
    return ours.has(originOf('http', host)) || ours.has(originOf('https', host))
  }
}

function soleHost({ raw }: FastifyRequest): string | undefined {
  const hosts = raw.rawHeaders.filter((_, i) => i % 2 === 1 && raw.rawHeaders[i - 1]?.toLowerCase() === 'host')
  return hosts.length === 1 ? hosts[0] : undefined
}

/** The origin in lower case, without the default port of the scheme. */
function originOf(scheme: 'http' | 'https', authority: string): string {
  const url = `${scheme}://${authority}`
  return URL.canParse(url) ? new URL(url).origin : ''
}
