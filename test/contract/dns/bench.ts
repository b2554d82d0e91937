import { afterAll, beforeAll } from 'vitest'
import type { DnsProvider, DnsReader, ZoneRecord } from '../../../src/dns/contract.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { type Rfc2136Options, rfc2136Provider } from '../../../src/dns/rfc2136.ts'
import type { TsigKeySettings } from '../../../src/dns/tsig.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { randomKey, type ServedZone, type ZoneHost } from '../../support/dns/served-zone.ts'

export type StartHost = (served: ServedZone) => Promise<ZoneHost>

/** One real server with the zone `lab.test`, and a provider that may change it. */
export interface Bench {
  readonly host: ZoneHost
  readonly key: TsigKeySettings
  readonly stranger: TsigKeySettings
  readonly reader: DnsReader
  readonly provider: DnsProvider
  /** A provider with other options. */
  providerWith(options: Partial<Rfc2136Options>): DnsProvider
  serial(): Promise<number>
}

export const ZONE = 'lab.test'

/** Starts the server for the tests of the describe block that it is called in. */
export function benchOn(start: StartHost, algorithm: TsigKeySettings['algorithm'] = 'hmac-sha256'): () => Bench {
  let bench: Bench | undefined
  beforeAll(async () => {
    const key = randomKey('drawbridge', algorithm)
    const stranger = randomKey('stranger')
    bench = benchOf(await start({ zone: ZONE, key, stranger }), key, stranger)
  })
  afterAll(() => bench?.host.stop())
  return () => {
    if (!bench) throw new Error('The server has not been started.')
    return bench
  }
}

function benchOf(host: ZoneHost, key: TsigKeySettings, stranger: TsigKeySettings): Bench {
  const reader = dnsReader(host.endpoint)
  const providerWith: Bench['providerWith'] = (options) =>
    rfc2136Provider({ zone: ZONE, primary: host.endpoint, key, clock: systemClock, ...options })
  return { host, key, stranger, reader, provider: providerWith({}), providerWith, serial: () => serialOf(reader) }
}

async function serialOf(reader: DnsReader): Promise<number> {
  const [outcome] = await reader.ask([{ name: ZONE, type: 'SOA' }])
  const rdata = outcome?.kind === 'answer' ? outcome.answers[0]?.rdata : undefined
  if (!rdata) throw new Error(`${reader.server} returned no serial.`)
  return rdata.readUInt32BE(rdata.length - 20)
}

export const address = (name: string, value = '127.0.45.23'): ZoneRecord => ({ name, type: 'A', ttl: 60, value })
export const text = (name: string, value: string): ZoneRecord => ({ name, type: 'TXT', ttl: 60, value })

let hosts = 0
/** A name that no other test uses. */
export const freshName = (): string => `host-${++hosts}.${ZONE}`

/** The records of one exposure: the address of the host and its owner mark. */
export const exposure = (name: string): [ZoneRecord, ZoneRecord] => [
  address(name),
  text(`_drawbridge.${name}`, `exposure of ${name}`),
]
