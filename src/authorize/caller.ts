import { Networks, parseAddress } from '../model/address.ts'

/** Who is asking: the canonical client address and which side of the wall it stands on. */
export interface Caller {
  readonly address: string
  readonly network: 'internal' | 'public'
  /** An untrusted peer sent forwarding headers: somebody runs a proxy that is not configured. */
  readonly unconfiguredProxy: boolean
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Signs that a proxy stands between the caller and us. Their mere presence from an untrusted peer makes it public. */
const PROXY_SIGNS = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto', 'via']

/**
 * Decides who calls. The socket's peer is the client, unless the peer is exactly a trusted proxy: then X-Forwarded-For is
 * read from the right, skipping trusted proxies. A trusted proxy that names nobody is public: a proxy inside the internal
 * network must never lend its own address to the world.
 */
export class CallerRules {
  readonly #internal: Networks
  readonly #trusted: ReadonlySet<string>

  constructor(internalNetworks: readonly string[], trustedProxies: readonly string[]) {
    this.#internal = new Networks(internalNetworks)
    this.#trusted = new Set(trustedProxies)
  }

  identify(peerText: string, headers: Headers): Caller {
    const peer = parseAddress(peerText) ?? 'unknown'
    if (this.#trusted.has(peer)) {
      const client = this.#forwardedClient(headers['x-forwarded-for'])
      return client
        ? { address: client, network: this.#networkOf(client), unconfiguredProxy: false }
        : { address: peer, network: 'public', unconfiguredProxy: false }
    }
    if (PROXY_SIGNS.some((name) => headers[name] !== undefined)) {
      return { address: peer, network: 'public', unconfiguredProxy: true }
    }
    return { address: peer, network: this.#networkOf(peer), unconfiguredProxy: false }
  }

  #forwardedClient(header: string | string[] | undefined): string | undefined {
    const hops = [header ?? []].flat().join(',').split(',')
    for (const hop of hops.reverse()) {
      const address = parseAddress(hop.trim())
      if (!address || !this.#trusted.has(address)) return address
    }
    return undefined
  }

  #networkOf(address: string): 'internal' | 'public' {
    return address !== 'unknown' && this.#internal.has(address) ? 'internal' : 'public'
  }
}
