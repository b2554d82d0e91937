import { join } from 'node:path'
import { dnsResponder } from '../certificates/acme/challenges.ts'
import type { AcmeIssuerOptions } from '../certificates/acme/issuer.ts'
import type { CertificateInventory, CertificateIssuer, IssueProgress, OrderBudget } from '../certificates/contract.ts'
import { loadPair } from '../certificates/stock/pair.ts'
import type { Config } from '../config/config.ts'
import { namesToOrder } from '../config/zones.ts'
import type { DnsProvider, DnsReader, ZoneRecord } from '../dns/contract.ts'
import { awaitPropagation, holdsExactly } from '../dns/read-back.ts'
import { dnsReader } from '../dns/reader.ts'
import { rfc2136Provider } from '../dns/rfc2136.ts'
import { localEdge } from '../edge/local.ts'
import { Fault } from '../model/errors.ts'
import { backupShelf } from '../runs/backup-shelf.ts'
import type { CrashPoint } from '../runs/engine/crash-points.ts'
import { EdgeLock } from '../runs/engine/edge-lock.ts'
import type { StepParts } from '../runs/steps/steps.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'

/** Everything that can change the world, built from the configuration: edges, zones, certificates, backups. */
export interface RunEquipment extends Omit<StepParts, 'recheck'> {}

interface EquipmentParts {
  readonly config: Config
  readonly store: Store
  readonly inventory: CertificateInventory
  readonly budget: OrderBudget
  readonly instance: string
  readonly crashPoint: CrashPoint
  /** Told when the Primary's nginx has loaded what stood on its disk at that time. */
  readonly loaded: (since: number) => void
  readonly log: Log
  readonly now: () => number
}

export function equip(parts: EquipmentParts): RunEquipment {
  const { config, store, inventory, budget, instance, crashPoint, loaded, log, now } = parts
  const { servers, edges, zones, acme, stateDir } = config
  const edgeOf = (server: string | undefined, told?: (since: number) => void) => {
    const setting = server === undefined ? undefined : edges[server]
    return server === undefined || !setting ? undefined : localEdge({ ...setting, server, ports: config.edge }, told)
  }
  const providers = new Map<string, DnsProvider>()
  const readers = new Map<string, readonly DnsReader[]>()
  for (const { name, primary, nameServers, tsig } of zones.values()) {
    readers.set(
      name,
      [primary, ...nameServers].map((server) => dnsReader(server)),
    )
    if (tsig)
      providers.set(name, rfc2136Provider({ zone: name, primary, key: { ...tsig, secret: tsig.secret.reveal() } }))
  }
  return {
    primary: edgeOf(servers.primary, loaded),
    secondary: edgeOf(servers.secondary),
    edgeLock: new EdgeLock(store, instance, config.instances.takeOverSeconds * 1000),
    shelf: backupShelf(
      join(stateDir, 'backups'),
      config.backups.keepRuns,
      now,
      async () => new Set(await store.unsettledRunIds()),
    ),
    providerFor: (zone) => providers.get(zone),
    readBack: async (zone, records) => {
      const [primary] = readers.get(zone) ?? []
      return primary ? holdsExactly(primary, records) : 'unknown'
    },
    inventory,
    issuer: issuerWhenNeeded({
      directory: acme.directory,
      caFile: acme.caFile,
      contact: acme.contact,
      externalAccount: acme.externalAccount && {
        keyId: acme.externalAccount.keyId,
        hmacKey: acme.externalAccount.hmacKey.reveal(),
      },
      accountKey: acme.accountKey?.reveal(),
      stateDir,
      orders: store,
      budget,
      onProgress: (progress) => logProgress(log, progress),
      limits: { requestMs: acme.timeoutSeconds * 1000 },
      now,
    }),
    loadPair: (chosen) => loadPairFrom(inventory, chosen),
    challenge: acme.challenge,
    certificateNames: namesToOrder(zones),
    dnsResponder: (zone, provider) =>
      dnsResponder({
        provider,
        zone,
        ttl: zones.get(zone)?.ttl ?? 60,
        waitUntilServed: (record) => waitUntilServed(readers.get(zone) ?? [], record),
      }),
    crashPoint,
    now,
  }
}

function logProgress(log: Log, { kind, detail }: IssueProgress): void {
  const isFailure = kind === 'failed' || kind === 'challenge_left'
  log[isFailure ? 'warn' : 'info']({ progress: kind, detail }, 'Certificate order progress')
}

/** A certificate that was replaced meanwhile lies somewhere else in the folders for a while. */
async function loadPairFrom(inventory: CertificateInventory, chosen: Parameters<StepParts['loadPair']>[0]) {
  return loadPair(chosen).catch(async (fault: unknown) => {
    const moved = await inventory.withFingerprint(chosen.fingerprint)
    if (!moved) throw fault
    return loadPair(moved)
  })
}

async function waitUntilServed(servers: readonly DnsReader[], record: ZoneRecord): Promise<void> {
  const arrived = await awaitPropagation(servers, record, 'served')
  if (!arrived.ok) throw new Fault(`The challenge is not served by ${arrived.lagging.join(', ')} yet.`)
}

/** The ACME client is loaded with the first order: many a service never places one. */
function issuerWhenNeeded(options: AcmeIssuerOptions): CertificateIssuer {
  let issuer: Promise<CertificateIssuer> | undefined
  const loaded = () => {
    issuer ??= import('../certificates/acme/issuer.ts').then(({ acmeIssuer }) => acmeIssuer(options))
    return issuer
  }
  return {
    issue: async (...order) => (await loaded()).issue(...order),
    sweepChallenges: async (...left) => (await loaded()).sweepChallenges(...left),
  }
}
