import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startBind } from '../../../lab/bind.ts'
import { freePort } from '../../../lab/free-port.ts'
import { apiCertificateFile, type PebbleOptions, startPebble } from '../../../lab/pebble.ts'
import { dnsResponder } from '../../../src/certificates/acme/challenges.ts'
import type { ChallengeResponder, OrderBook } from '../../../src/certificates/contract.ts'
import { type DnsProvider, type DnsReader, leased, type ZoneRecord } from '../../../src/dns/contract.ts'
import { awaitPropagation } from '../../../src/dns/read-back.ts'
import { dnsReader } from '../../../src/dns/reader.ts'
import { rfc2136Provider } from '../../../src/dns/rfc2136.ts'
import type { OrderRecord } from '../../../src/model/ledger.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { tempFolder } from '../temp-folder.ts'

/** A zone on a real BIND with a secondary, and a real Pebble that resolves names there. */
export interface AcmeSite extends AsyncDisposable {
  readonly zone: string
  readonly provider: DnsProvider
  /** Does not wait until an unconfirmed update can be made no more, because none is late here: it notes that it would. */
  readonly responder: ChallengeResponder
  /** Up to which second each of those updates was valid. */
  readonly waitedFor: readonly number[]
  readonly caFile: string
  /** The directory of Pebble, and its port. */
  readonly directory: string
  readonly pebbleFolder: string
  readonly pebblePort: number
  /** The values of the challenge record for the host, as the primary has them. */
  challengesOf(host: string): Promise<number>
  stopPebble(): Promise<void>
  /** Replaces Pebble by a new one without any state. `environment`: the switches of Pebble. */
  startPebble(environment?: Readonly<Record<string, string>>): Promise<void>
}

/** A lease that never ends. Updates are signed for less than it has left. */
const ALWAYS_HELD = { assertHeld: () => undefined, ensureHeld: async () => undefined, leftMs: 4_000 }

export async function startAcmeSite(
  zone: string,
  environment: Readonly<Record<string, string>> = {},
  externalAccounts?: PebbleOptions['externalAccounts'],
): Promise<AcmeSite> {
  const folder = tempFolder()
  const pebbleFolder = tempFolder()
  const [port, secondaryPort, apiPort, managementPort] = await Promise.all([1, 2, 3, 4].map(() => freePort()))
  if (!port || !secondaryPort || !apiPort || !managementPort) throw new Error('No ports are free.')
  const local = (endpoint: number) => ({ address: '127.0.0.1', port: endpoint })
  const tsig = { name: 'drawbridge', algorithm: 'hmac-sha256', secret: randomBytes(32).toString('base64') } as const
  const bind = await startBind({ folder: folder.path, port, secondaryPort, zones: [{ name: zone, records: [] }], tsig })
  const provider = rfc2136Provider({ zone, primary: local(port), key: tsig, clock: systemClock })
  const readers = [dnsReader(local(port)), dnsReader(local(secondaryPort))]
  const start = (switches: Readonly<Record<string, string>>) =>
    withEnvironment(switches, () =>
      startPebble({
        folder: pebbleFolder.path,
        api: local(apiPort),
        management: local(managementPort),
        dns: local(port),
        rootsFile: join(pebbleFolder.path, 'ca.pem'),
        externalAccounts,
      }),
    )
  let pebble = await start(environment)
  const waitedFor: number[] = []
  return {
    zone,
    provider,
    responder: dnsResponder({
      provider: { ...leased(provider, ALWAYS_HELD), settle: async (validUntil) => void waitedFor.push(validUntil) },
      zone,
      ttl: 60,
      waitUntilServed: (record) => served(readers, record),
    }),
    waitedFor,
    caFile: apiCertificateFile(pebbleFolder.path),
    directory: `https://127.0.0.1:${apiPort}/dir`,
    pebbleFolder: pebbleFolder.path,
    pebblePort: apiPort,
    async challengesOf(host) {
      const [outcome] = (await readers[0]?.ask([{ name: `_acme-challenge.${host}`, type: 'TXT' }])) ?? []
      if (outcome?.kind !== 'answer') throw new Error('BIND did not answer.')
      return outcome.answers.length
    },
    stopPebble: () => pebble.stop(),
    async startPebble(switches = environment) {
      await pebble.stop()
      pebble = await start(switches)
    },
    async [Symbol.asyncDispose]() {
      await pebble.stop()
      await bind.stop()
      folder[Symbol.dispose]()
      pebbleFolder[Symbol.dispose]()
    },
  }
}

async function served(readers: readonly DnsReader[], record: ZoneRecord): Promise<void> {
  const propagation = await awaitPropagation(readers, record, 'served')
  if (!propagation.ok) throw new Error(`not yet served by ${propagation.lagging.join(', ')}`)
}

/** Pebble reads its switches from environment variables. */
async function withEnvironment<T>(more: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  const before = Object.keys(more).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, more)
  try {
    return await work()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

/** An order book that outlives its issuers, like a store. */
export function orderBook(): OrderBook & { readonly records: Map<string, OrderRecord> } {
  const records = new Map<string, OrderRecord>()
  const keyOf = (names: string, directory: string) => `${names} ${directory}`
  return {
    records,
    findOrder: async (names, directory) => records.get(keyOf(names, directory)),
    putOrder: async (order) => void records.set(keyOf(order.names, order.directory), order),
    deleteOrder: async (names, directory) => void records.delete(keyOf(names, directory)),
  }
}
