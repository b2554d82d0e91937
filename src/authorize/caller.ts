import { Networks, parseAddress } from '../model/address.ts'

/** The caller of a request: its canonical address and its network. */
export interface Caller {
  readonly address: string
  readonly network: 'internal' | 'public'
  /** An untrusted peer sent forwarding headers, so it is probably a proxy that is not configured. */
  readonly unconfiguredProxy: boolean
}

/** The caller as audit lines and runs name it. */
export const who = ({ address, network }: Caller) => ({ actor: address, network })

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Headers of proxies. An untrusted peer that sends one of them counts as public. */
const PROXY_SIGNS = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto', 'via']

/**
 * Identifies callers. The peer of the socket is the caller, unless the peer is a trusted proxy. Then X-Forwarded-For is
 * read from the right, skipping trusted proxies. A trusted proxy that sends no client address counts as public: otherwise
 * a proxy inside the internal network would give its own rights to every caller.
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
