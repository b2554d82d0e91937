import type { Config } from '../config/config.ts'
import type { Zone, ZoneKey } from '../config/zones.ts'
import type { DnsProvider, DnsReader } from '../dns/contract.ts'
import { dnsReader } from '../dns/reader.ts'
import { type Rfc2136Options, rfc2136Provider } from '../dns/rfc2136.ts'
import type { DnsTransport } from '../dns/transport.ts'
import type { Clock } from '../primitives/clock.ts'

/** How the zones of the present configuration are read and changed. A zone that was reloaded has new clients. */
export class ZoneClients {
  readonly #config: Pick<Config, 'zones'>
  readonly #clock: Clock
  readonly #transport: DnsTransport | undefined
  readonly #readers = new WeakMap<Zone, readonly DnsReader[]>()
  readonly #providers = new WeakMap<Zone, DnsProvider>()
  readonly #clockOffsets = new Map<string, number>()

  /** `transport`: how messages reach the name servers. Default: the sockets of this machine. */
  constructor(config: Pick<Config, 'zones'>, clock: Clock, transport?: DnsTransport) {
    this.#config = config
    this.#clock = clock
    this.#transport = transport
  }

  /** A reader for each name server of the zone, the primary first. Empty for a zone that is not configured. */
  readersOf(name: string): readonly DnsReader[] {
    const zone = this.#config.zones.get(name)
    if (!zone) return []
    const known = this.#readers.get(zone)
    if (known) return known
    const readers = [zone.primary, ...zone.nameServers].map((server) =>
      dnsReader(server, { clock: this.#clock, transport: this.#transport }),
    )
    this.#readers.set(zone, readers)
    return readers
  }

  /** By zone, how many seconds our clock was ahead of that of its server at the last update. */
  get clockOffsets(): ReadonlyMap<string, number> {
    return this.#clockOffsets
  }

  primaryOf(name: string): DnsReader | undefined {
    return this.readersOf(name)[0]
  }

  /** Undefined for a zone without a TSIG key. */
  providerOf(name: string): DnsProvider | undefined {
    const zone = this.#config.zones.get(name)
    if (!zone?.tsig) return undefined
    const known = this.#providers.get(zone)
    if (known) return known
    const provider = rfc2136Provider({
      zone: name,
      primary: zone.primary,
      ...keysOf(zone.tsig, zone.nextTsig),
      clock: this.#clock,
      transport: this.#transport,
      onClock: (aheadSeconds) => this.#clockOffsets.set(name, aheadSeconds),
    })
    this.#providers.set(zone, provider)
    return provider
  }
}

export const keysOf = (key: ZoneKey, next: ZoneKey | undefined): Pick<Rfc2136Options, 'key' | 'nextKey'> => ({
  key: { ...key, secret: key.secret.reveal() },
  nextKey: next && { ...next, secret: next.secret.reveal() },
})
