import { join } from 'node:path'
import { dnsResponder } from '../certificates/acme/challenges.ts'
import { acmeDirectory } from '../certificates/acme/directory.ts'
import type { AcmeIssuerOptions } from '../certificates/acme/issuer.ts'
import { renewalAdvisor } from '../certificates/acme/renewal-info.ts'
import type {
  CertificateInventory,
  CertificateIssuer,
  IssueProgress,
  OrderBudget,
  OrderSecrets,
} from '../certificates/contract.ts'
import { loadChosenPair } from '../certificates/stock/pair.ts'
import type { Config } from '../config/config.ts'
import { namesToOrder } from '../config/zones.ts'
import type { DnsReader, ZoneRecord } from '../dns/contract.ts'
import { awaitPropagation, holdsExactly, readSets } from '../dns/read-back.ts'
import { formatEndpoint } from '../model/address.ts'
import { Fault } from '../model/errors.ts'
import type { Clock } from '../primitives/clock.ts'
import { backupShelf } from '../runs/backup-shelf.ts'
import { Converge, type ConvergeParts } from '../runs/converge.ts'
import { EdgeStandings } from '../runs/edge-standings.ts'
import { CertificateLock } from '../runs/engine/certificate-lock.ts'
import type { CrashPoint } from '../runs/engine/crash-points.ts'
import { Runs, type RunsParts } from '../runs/engine/runs.ts'
import { raiseFences, showingStore } from '../runs/fences.ts'
import { type RenewalParts, Renewals } from '../runs/renewal/renewals.ts'
import type { StepParts } from '../runs/steps/context.ts'
import { stepsFor } from '../runs/steps/steps.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'
import type { EdgeAccess } from './edges.ts'
import type { ZoneClients } from './zone-clients.ts'

/** Everything with which a run changes edges, zones, certificates and backups. */
export interface RunParts extends StepParts, Pick<ConvergeParts, 'placeOf'> {}

interface RunPartsSources {
  readonly config: Config
  readonly store: Store
  readonly inventory: CertificateInventory
  readonly budget: OrderBudget
  readonly secrets: OrderSecrets
  readonly instance: string
  readonly crashPoint: CrashPoint
  readonly edges: ReadonlyMap<string, Pick<EdgeAccess, 'edge' | 'environment'>>
  readonly clients: ZoneClients
  readonly recheck: StepParts['recheck']
  readonly log: Log
  readonly clock: Clock
}

export function runParts(sources: RunPartsSources): RunParts {
  const { config, store, inventory, instance, crashPoint, edges, clients, recheck, clock } = sources
  const { servers, acme, stateDir } = config
  const edgeOf = (server: string) => {
    const edge = edges.get(server)?.edge
    return edge && showingStore(edge, store)
  }
  return {
    store,
    primary: edgeOf(servers.primary),
    secondary: servers.secondary === undefined ? undefined : edgeOf(servers.secondary),
    standings: new EdgeStandings(clock.now),
    placeOf: (server) => {
      const { address = '', ports } = edges.get(server)?.environment.edge ?? {}
      return formatEndpoint({ address, port: ports?.http ?? 80 })
    },
    certificateLock: new CertificateLock(store, instance, config.instances.takeOverSeconds * 1000, clock),
    shelf: backupShelf(
      join(stateDir, 'backups'),
      config.backups.keepRuns,
      clock.now,
      async () => new Set(await store.unsettledRunIds()),
    ),
    providerFor: (zone) => clients.providerOf(zone),
    readBack: async (zone, records, signal) => {
      const primary = clients.primaryOf(zone)
      return primary ? holdsExactly(primary, records, signal) : 'unknown'
    },
    readSets: async (zone, names, signal) => {
      const primary = clients.primaryOf(zone)
      return primary ? readSets(primary, names, signal) : 'unknown'
    },
    inventory,
    issuer: lazyIssuer(issuerOptions(sources)),
    loadPair: (chosen) => loadChosenPair(inventory, chosen),
    challenge: acme.challenge,
    certificateNames: (zone, host) => namesToOrder(config.zones, zone, host),
    dnsResponder: (zone, provider) =>
      dnsResponder({
        provider,
        zone,
        ttl: config.zones.get(zone)?.ttl ?? 60,
        waitUntilServed: (record) => waitUntilServed(clients.readersOf(zone), record, clock),
      }),
    recheck,
    crashPoint,
    clock,
  }
}

function issuerOptions({ config, store, budget, secrets, log, clock }: RunPartsSources): AcmeIssuerOptions {
  const { acme, stateDir } = config
  return {
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
    secrets,
    onProgress: (progress) => logProgress(log, progress),
    limits: { requestMs: acme.timeoutSeconds * 1000 },
    clock,
  }
}

function logProgress(log: Log, { kind, detail }: IssueProgress): void {
  const isFailure = kind === 'failed' || kind === 'challenge_left'
  log[isFailure ? 'warn' : 'info'](
    { event: 'certificate_order_progress', progress: kind, detail },
    'A certificate order reached its next stage.',
  )
}

async function waitUntilServed(servers: readonly DnsReader[], record: ZoneRecord, clock: Clock): Promise<void> {
  const arrived = await awaitPropagation(servers, record, 'served', undefined, undefined, clock)
  if (!arrived.ok) throw new Fault(`The challenge is not served by ${arrived.lagging.join(', ')} yet.`)
}

/** Loads the ACME client with the first order, because many services never place one. */
function lazyIssuer(options: AcmeIssuerOptions): CertificateIssuer {
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

/** The engine of all runs. `steps` are the parts that the steps of each run act with. */
export const composeRuns = (steps: StepParts, parts: Omit<RunsParts, 'stepsFor' | 'raiseFences'>): Runs =>
  new Runs({
    ...parts,
    raiseFences: (fences) => raiseFences(steps, fences),
    stepsFor: (carried, guard) => stepsFor(steps, carried, guard),
  })

export const composeConverge = (parts: RunParts, shared: Pick<RenewalParts, 'store' | 'runs' | 'log'>): Converge =>
  new Converge({ ...parts, ...shared })

/** The renewal of every certificate in use. Undefined when the configuration has no edge for the Primary. */
export function composeRenewals(
  { acme, renewal }: Config,
  parts: RunParts,
  shared: Pick<RenewalParts, 'store' | 'runs' | 'log'>,
): Renewals | undefined {
  if (!parts.primary) return undefined
  const { clock } = parts
  const directory = acmeDirectory({ url: acme.directory, caFile: acme.caFile, clock })
  return new Renewals({
    ...parts,
    ...shared,
    advisor: renewalAdvisor({ directory, caFile: acme.caFile, clock }),
    retry: { firstMs: renewal.retryFirstSeconds * 1000, factor: 2, longestMs: renewal.retryCapSeconds * 1000 },
  })
}
