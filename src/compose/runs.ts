import { join } from 'node:path'
import { dnsResponder } from '../certificates/acme/challenges.ts'
import { acmeDirectory } from '../certificates/acme/directory.ts'
import type { AcmeIssuerOptions } from '../certificates/acme/issuer.ts'
import { renewalAdvisor } from '../certificates/acme/renewal-info.ts'
import type {
  CertificateInventory,
  CertificateIssuer,
  ChallengeType,
  IssueProgress,
  OrderBudget,
} from '../certificates/contract.ts'
import { loadPair } from '../certificates/stock/pair.ts'
import type { Config } from '../config/config.ts'
import { namesToOrder } from '../config/zones.ts'
import type { DnsProvider, DnsReader, ZoneRecord } from '../dns/contract.ts'
import { awaitPropagation, holdsExactly } from '../dns/read-back.ts'
import { dnsReader } from '../dns/reader.ts'
import { rfc2136Provider } from '../dns/rfc2136.ts'
import type { Edge } from '../edge/contract.ts'
import { localEdge } from '../edge/local.ts'
import { Fault } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import { type Run, STEPS_TO_REMOVE } from '../model/run.ts'
import { stepsToApply } from '../plan/steps.ts'
import { backupShelf } from '../runs/backup-shelf.ts'
import type { CrashPoint } from '../runs/engine/crash-points.ts'
import { EdgeLock } from '../runs/engine/edge-lock.ts'
import { Runs, type RunsParts } from '../runs/engine/runs.ts'
import { type RenewalParts, Renewals } from '../runs/renewal/renewals.ts'
import type { RunSubject, StepParts } from '../runs/steps/context.ts'
import { stepsFor } from '../runs/steps/steps.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'

/** Everything with which a run changes edges, zones, certificates and backups. */
export interface RunParts extends Omit<StepParts, 'recheck'> {}

interface RunPartsSources {
  readonly config: Config
  readonly store: Store
  readonly inventory: CertificateInventory
  readonly budget: OrderBudget
  readonly instance: string
  readonly crashPoint: CrashPoint
  /** Called after the Primary's nginx has loaded the files as they were on its disk at the time `since`. */
  readonly markLoaded: (since: number) => void
  readonly log: Log
  readonly now: () => number
}

export function runParts(sources: RunPartsSources): RunParts {
  const { config, store, inventory, instance, crashPoint, markLoaded, now } = sources
  const { servers, zones, acme, stateDir } = config
  const { providers, readers } = zoneClients(config)
  return {
    primary: edgeOf(config, servers.primary, markLoaded),
    secondary: edgeOf(config, servers.secondary),
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
    issuer: lazyIssuer(issuerOptions(sources)),
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

/** Undefined when the configuration has no edge for this server. */
function edgeOf(
  { edges, edge }: Config,
  server: string | undefined,
  markLoaded?: (since: number) => void,
): Edge | undefined {
  const setting = server === undefined ? undefined : edges[server]
  return server === undefined || !setting ? undefined : localEdge({ ...setting, server, ports: edge }, markLoaded)
}

/** By zone: the provider where the zone has a TSIG key, and a reader for each name server, the primary first. */
function zoneClients({ zones }: Config) {
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
  return { providers, readers }
}

function issuerOptions({ config, store, budget, log, now }: RunPartsSources): AcmeIssuerOptions {
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
    onProgress: (progress) => logProgress(log, progress),
    limits: { requestMs: acme.timeoutSeconds * 1000 },
    now,
  }
}

function logProgress(log: Log, { kind, detail }: IssueProgress): void {
  const isFailure = kind === 'failed' || kind === 'challenge_left'
  log[isFailure ? 'warn' : 'info'](
    { event: 'certificate_order_progress', progress: kind, detail },
    'A certificate order reached its next stage.',
  )
}

/**
 * Loads the chosen pair. A pair that was replaced during the run may have moved: the inventory finds it by fingerprint.
 */
async function loadPairFrom(inventory: CertificateInventory, chosen: Parameters<StepParts['loadPair']>[0]) {
  return loadPair(chosen).catch(async (error: unknown) => {
    const moved = await inventory.withFingerprint(chosen.fingerprint)
    if (!moved) throw error
    return loadPair(moved)
  })
}

async function waitUntilServed(servers: readonly DnsReader[], record: ZoneRecord): Promise<void> {
  const arrived = await awaitPropagation(servers, record, 'served')
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
export function composeRuns(steps: StepParts, { store, ...parts }: Omit<RunsParts, 'stepsFor'>): Runs {
  return new Runs({
    ...parts,
    store,
    stepsFor: async (plan, run, guard) =>
      stepsFor(steps, { ...(await subjectOf(store, steps.challenge, plan, run)), guard }),
  })
}

/** What a run works on. Plans that were stored before schema version 9 have no steps: theirs follow from their changes. */
async function subjectOf(
  store: Store,
  challenge: ChallengeType,
  plan: Plan,
  run: Run,
): Promise<Omit<RunSubject, 'guard'>> {
  const { tls } = plan.request
  // The removal of a plan that once replaced another one has nothing to do with that other plan.
  const replaces = run.action === 'update' ? plan.request.replaces : undefined
  const names = run.action === 'remove' ? STEPS_TO_REMOVE : (plan.steps ?? stepsToApply(tls, plan.changes, challenge))
  const [exposure, former] = await Promise.all([
    store.findExposure(plan.host),
    replaces === undefined ? undefined : store.findPlan(replaces),
  ])
  return { plan, run, names, receipt: exposure?.receipt, former }
}

/** Undefined when the configuration has no edge for the Primary: then no certificate is in use. */
export function composeRenewals(
  { acme, renewal }: Config,
  { primary, ...parts }: RunParts,
  shared: Pick<RenewalParts, 'store' | 'instance' | 'leaseMs' | 'log'>,
): Renewals | undefined {
  if (!primary) return undefined
  const { now } = parts
  const directory = acmeDirectory({ url: acme.directory, caFile: acme.caFile })
  return new Renewals({
    ...parts,
    ...shared,
    primary,
    advisor: renewalAdvisor({ directory, caFile: acme.caFile, now }),
    retry: { firstMs: renewal.retryFirstSeconds * 1000, factor: 2, longestMs: renewal.retryCapSeconds * 1000 },
  })
}
