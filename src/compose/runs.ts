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
  OrderSecrets,
} from '../certificates/contract.ts'
import { loadPair } from '../certificates/stock/pair.ts'
import type { Config } from '../config/config.ts'
import { namesToOrder } from '../config/zones.ts'
import type { DnsReader, ZoneRecord } from '../dns/contract.ts'
import { awaitPropagation, holdsExactly, readSets } from '../dns/read-back.ts'
import { type Edge, EdgeFault, isFenced } from '../edge/contract.ts'
import { formatEndpoint } from '../model/address.ts'
import { Fault } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import {
  type HostFence,
  type RunAction,
  STEPS_TO_ACCEPT,
  STEPS_TO_CONVERGE,
  STEPS_TO_REMOVE,
  STEPS_TO_RENEW,
  type StepName,
} from '../model/run.ts'
import { stepsToApply, stepsToRepair } from '../plan/steps.ts'
import type { Clock } from '../primitives/clock.ts'
import { backupShelf } from '../runs/backup-shelf.ts'
import { Converge, type ConvergeParts } from '../runs/converge.ts'
import { EdgeStandings } from '../runs/edge-standings.ts'
import type { CrashPoint } from '../runs/engine/crash-points.ts'
import { EdgeLock } from '../runs/engine/edge-lock.ts'
import { type Carried, Runs, type RunsParts } from '../runs/engine/runs.ts'
import { type RenewalParts, Renewals } from '../runs/renewals.ts'
import type { RunSubject, StepParts } from '../runs/steps/context.ts'
import { stepsFor } from '../runs/steps/steps.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/ports/store.ts'
import type { EdgeAccess } from './edges.ts'
import type { ZoneClients } from './zone-clients.ts'

/** Everything with which a run changes edges, zones, certificates and backups. */
export interface RunParts extends Omit<StepParts, 'recheck'>, Pick<ConvergeParts, 'placeOf'> {}

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
  readonly log: Log
  readonly clock: Clock
}

/** Who prepares the edge shows it the store: from then on it refuses what an earlier epoch of the store still sends. */
const showing = (edge: Edge | undefined, store: Store): Edge | undefined =>
  edge && {
    ...edge,
    prepare: async (signal) => {
      const show = async () =>
        edge.change({ items: [], floor: { store: await store.storeId(), epoch: await store.epoch() } })
      // An edge whose nginx is broken takes it, too. One that has no folder yet takes it when it is prepared.
      await show().catch((error: unknown) => {
        if (isFenced(error)) throw error
      })
      await edge.prepare(signal)
      await show()
    },
  }

export function runParts(sources: RunPartsSources): RunParts {
  const { config, store, inventory, instance, crashPoint, edges, clients, clock } = sources
  const { servers, acme, stateDir } = config
  const edgeLock = new EdgeLock(store, instance, config.instances.takeOverSeconds * 1000, clock)
  return {
    primary: showing(edges.get(servers.primary)?.edge(edgeLock), store),
    secondary:
      servers.secondary === undefined ? undefined : showing(edges.get(servers.secondary)?.edge(edgeLock), store),
    standings: new EdgeStandings(clock.now),
    placeOf: (server) => {
      const { address = '', ports } = edges.get(server)?.environment.edge ?? {}
      return formatEndpoint({ address, port: ports?.http ?? 80 })
    },
    edgeLock,
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
    loadPair: (chosen) => loadPairFrom(inventory, chosen),
    challenge: acme.challenge,
    certificateNames: (zone, host) => namesToOrder(config.zones, zone, host),
    dnsResponder: (zone, provider) =>
      dnsResponder({
        provider,
        zone,
        ttl: config.zones.get(zone)?.ttl ?? 60,
        waitUntilServed: (record) => waitUntilServed(clients.readersOf(zone), record, clock),
      }),
    findPlan: (planId) => store.findPlan(planId),
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

/**
 * Loads the chosen pair. A pair that was replaced during the run may have moved: the inventory finds it by fingerprint. One that only
 * edges have is known by its fingerprint alone.
 */
const loadPairFrom = async (
  inventory: CertificateInventory,
  chosen: Parameters<StepParts['loadPair']>[0],
): ReturnType<StepParts['loadPair']> => {
  const { fingerprint, pairOnEdge } = chosen
  if (pairOnEdge && !(await inventory.withFingerprint(fingerprint))) return undefined
  return loadPair(chosen).catch(async (error: unknown) => {
    const moved = await inventory.withFingerprint(chosen.fingerprint)
    if (!moved) throw error
    return loadPair(moved)
  })
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
export function composeRuns(steps: StepParts, { store, ...parts }: Omit<RunsParts, 'stepsFor' | 'raiseFences'>): Runs {
  return new Runs({
    ...parts,
    store,
    raiseFences: (fences) => raiseFences(steps, fences),
    stepsFor: async (carried, guard) =>
      stepsFor(steps, { ...(await subjectOf(store, steps.challenge, carried)), guard }),
  })
}

/** The Secondary decides nothing, so nobody waits for it to come back. An edge that cannot be written says so in its step. */
async function raiseFences({ primary, secondary }: StepParts, fences: readonly HostFence[]): Promise<void> {
  const items = fences.map((fence) => ({ host: fence.host, fence, expected: 'any', wanted: 'same' }) as const)
  const raised = primary?.change({ items }).catch((error: unknown) => {
    if (isFenced(error) || (error instanceof EdgeFault && error.kind === 'away')) throw error
  })
  await Promise.all([raised, secondary?.change({ items }).catch(() => undefined)])
}

/** What a run works on. Plans that were stored before schema version 9 have no steps: theirs follow from their changes. */
async function subjectOf(
  store: Store,
  challenge: ChallengeType,
  { plan, run, task }: Carried,
): Promise<Omit<RunSubject, 'guard'>> {
  const { tls } = plan.request
  // The removal of a plan that once replaced another one has nothing to do with that other plan.
  const replaces = run.action === 'update' ? plan.request.replaces : undefined
  const ofPlan = plan.steps ?? stepsToApply(tls, plan.changes, challenge)
  const [exposure, former, members] = await Promise.all([
    store.findExposure(plan.host),
    replaces === undefined ? undefined : store.findPlan(replaces),
    run.action === 'renew' || run.action === 'converge' ? store.exposuresOf(run.runId) : [],
  ])
  return {
    plan,
    run,
    task,
    names: task.steps ?? FIXED_STEPS[run.action] ?? ofPlan,
    receipt: exposure?.receipt,
    former,
    members: members.flatMap(({ host, planId, receipt }) => (receipt ? [{ host, planId, receipt }] : [])),
  }
}

/** The steps of actions for which they do not depend on the plan. */
const FIXED_STEPS: Partial<Record<RunAction, readonly StepName[]>> = {
  remove: STEPS_TO_REMOVE,
  accept: STEPS_TO_ACCEPT,
  renew: STEPS_TO_RENEW,
  converge: STEPS_TO_CONVERGE,
}

/** The steps of a repair: a certificate is ordered only if that of the host is gone and none in the folders covers it. */
export const composeStepsToRepair =
  ({ acme }: Config, store: Store, { inventory, clock }: Pick<RunParts, 'inventory' | 'clock'>) =>
  async ({ host, request }: Plan): Promise<readonly StepName[]> => {
    const used = (await store.findExposure(host))?.receipt?.certificate?.fingerprint
    const present = used === undefined ? undefined : await inventory.withFingerprint(used)
    const isThere = present !== undefined && present.notAfter.getTime() > clock.now()
    const orders = request.tls && !isThere && !(await inventory.covering(host, clock.now()))
    return stepsToRepair(request.tls, orders, acme.challenge)
  }

export const composeConverge = (
  parts: RunParts,
  shared: Pick<RenewalParts, 'store' | 'runs' | 'instance' | 'log'>,
): Converge => new Converge({ ...parts, ...shared })

/** The renewal of every certificate in use. Undefined when the configuration has no edge for the Primary. */
export function composeRenewals(
  { acme, renewal }: Config,
  parts: RunParts,
  shared: Pick<RenewalParts, 'store' | 'runs' | 'instance' | 'log'>,
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
