import type { Edge, SiteCertificate, StandingEntry } from '../edge/contract.ts'
import type { Plan, PlanState } from '../model/exposure.ts'
import type { ComparedEdge, SecondaryEntry } from '../model/host-status.ts'
import type { ChosenCertificate, FileHash, Receipt } from '../model/receipt.ts'
import { type HostFence, hostLease, type RunAction } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import { Slices } from '../primitives/slices.ts'
import { type Exposure, type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { LeaseStore } from '../store/ports/leases.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunStore } from '../store/ports/runs.ts'
import type { Store } from '../store/ports/store.ts'
import { hashOf } from './file-hash.ts'
import { type StepParts, siteOf } from './steps/context.ts'
import { digestsOn, isEditedEntry } from './steps/entry-digest.ts'

/** Only reads. */
type ComparedStore = Pick<Store, 'epoch' | 'storeId'> &
  Pick<ExposureStore, 'listExposures'> &
  Pick<PlanStore, 'findPlan'> &
  Pick<RunStore, 'runsOfHost'> &
  Pick<LeaseStore, 'lastFences'>

/** A store of thousands of hosts is compared in slices, so that others work meanwhile. */
const SLICE_MS = 5

/** Plans whose hosts have left the edges. */
const ENDED: readonly PlanState[] = ['removed', 'rolled_back', 'expired', 'replaced', 'released']

/** Runs that decide whether an edge has the host of their plan. */
const DECIDES: readonly RunAction[] = ['apply', 'update', 'remove', 'accept']

/** Compares edges with a store. Changes nothing. */
export class EdgeComparison {
  readonly #store: ComparedStore
  readonly #loadPair: StepParts['loadPair']
  readonly #pairs = new Map<string, Promise<SiteCertificate | undefined>>()
  readonly #slices: Slices

  constructor(store: ComparedStore, loadPair: StepParts['loadPair'], clock: Clock) {
    this.#slices = new Slices(SLICE_MS, clock)
    this.#store = store
    this.#loadPair = loadPair
  }

  /** All exposures, by host. */
  async exposures(): Promise<Map<string, Exposure>> {
    this.#pairs.clear()
    const exposures = new Map<string, Exposure>()
    for await (const exposure of eachExposure(this.#store)) {
      exposures.set(exposure.host, exposure)
      if (this.#slices.isOver) await this.#slices.next()
    }
    return exposures
  }

  /**
   * The Primary is behind where this version writes an entry otherwise, and where it lost or never had the entry before the store was
   * restored. That is compared only with `rendered`.
   */
  async primary(edge: Edge, exposures: ReadonlyMap<string, Exposure>, rendered: boolean): Promise<ComparedEdge> {
    const isBehind = async (exposure: Exposure) => rendered && this.#isRenderedOtherwise(edge, exposure)
    const { orphans, doubtful, unknown, ...compared } = await this.#compare(edge, exposures, isBehind)
    return { ...compared, orphans: [], doubtful: [], unknown: [...orphans, ...doubtful, ...unknown] }
  }

  /** `primary` tells which removals this store has made: undefined where it is not at hand. */
  async secondary(
    edge: Edge,
    exposures: ReadonlyMap<string, Exposure>,
    primary: Edge | undefined,
  ): Promise<ComparedEdge> {
    const isBehind = (exposure: Exposure, entry: StandingEntry | undefined) =>
      this.#isBehindOnSecondary(edge, exposure, entry)
    return this.#compare(edge, exposures, isBehind, primary)
  }

  /** What somebody edited there is drift, and left; only its certificate is replaced. */
  async #isBehindOnSecondary(edge: Edge, exposure: Exposure, entry: StandingEntry | undefined): Promise<boolean> {
    const { planId, receipt } = exposure
    const hasLagged = lags(edge, exposure, entry)
    if (!entry || !receipt || !entry.isInLayout) return hasLagged
    if (!hasLagged && !receipt.formerTexts) return false
    if (hasLagged && entry.planId === planId) return true
    if (await isEditedEntry(edge, entry, receipt, (id) => this.#store.findPlan(id))) return false
    if (hasLagged) return true
    const plan = await this.#store.findPlan(planId)
    if (!plan) return false
    const { standing, rendered } = await digestsOn(edge, plan, receipt)
    return standing !== rendered
  }

  async #compare(
    edge: Edge,
    exposures: ReadonlyMap<string, Exposure>,
    isBehind: (exposure: Exposure, entry: StandingEntry | undefined) => Promise<boolean>,
    primary?: Edge,
  ): Promise<ComparedEdge> {
    const standing = new Map((await edge.list()).map((entry) => [entry.host, entry]))
    const foreign = await this.#foreign(edge, standing, exposures, primary)
    const settled = [...exposures.values()].filter(
      ({ state, runId, unconfirmed }) => state === 'applied' && runId === undefined && unconfirmed !== 'edges',
    )
    const isUnknown = new Set(foreign.unknown)
    const found: string[] = []
    for (const exposure of settled) {
      if (this.#slices.isOver) await this.#slices.next()
      if (isUnknown.has(exposure.host)) continue
      if (await isBehind(exposure, standing.get(exposure.host))) found.push(exposure.host)
    }
    const newer = await this.#newer([edge, ...(primary ? [primary] : [])], found)
    const behind = found.filter((host) => !newer.has(host))
    const unknown = [...foreign.unknown, ...newer]
    return { server: edge.server, entries: standing.size, behind, ...foreign, unknown, stray: await edge.stray() }
  }

  /** Entries that are not those of an exposure. */
  async #foreign(
    edge: Edge,
    standing: ReadonlyMap<string, StandingEntry>,
    exposures: ReadonlyMap<string, Exposure>,
    primary: Edge | undefined,
  ): Promise<Pick<ComparedEdge, 'orphans' | 'doubtful' | 'unknown' | 'endedPlans'>> {
    const unknown: string[] = []
    const plans: Record<string, string> = {}
    for (const { host, planId } of standing.values()) {
      if (this.#slices.isOver) await this.#slices.next()
      if (planId === undefined || exposures.get(host)?.planId === planId) continue
      const plan = await this.#store.findPlan(planId)
      if (!plan) unknown.push(host)
      else if (!exposures.has(host) && ENDED.includes(plan.state)) plans[host] = planId
    }
    const newer = await this.#newer([edge, ...(primary ? [primary] : [])], Object.keys(plans))
    const ended = Object.keys(plans).filter((host) => !newer.has(host))
    const seen = await this.#seenOnPrimary(ended, primary)
    const orphans: string[] = []
    const doubtful: string[] = []
    for (const host of ended) (seen.has(host) && (await this.#isRemoved(host)) ? orphans : doubtful).push(host)
    const endedPlans = ended.length === 0 ? {} : { endedPlans: plans }
    return { orphans, doubtful, unknown: [...unknown, ...newer], ...endedPlans }
  }

  /** Of a restored store: the hosts that no run has changed on these edges since the backup. */
  async unchanged(edges: readonly Edge[], exposures: ReadonlyMap<string, Exposure>): Promise<readonly string[]> {
    const waiting = [...exposures.values()].filter(({ unconfirmed }) => unconfirmed === 'edges').map(({ host }) => host)
    const newer = await this.#newer(edges, waiting)
    return waiting.filter((host) => !newer.has(host))
  }

  /** Those of the hosts that a run has changed on one of the edges which this store does not know: of another store, or of a newer copy. */
  async #newer(edges: readonly Edge[], hosts: readonly string[]): Promise<ReadonlySet<string>> {
    if (hosts.length === 0) return new Set()
    const [epoch, id] = await Promise.all([this.#store.epoch(), this.#store.storeId()])
    const own = await this.#store.lastFences(hosts.map(hostLease))
    const newest = new Map<string, HostFence>()
    const foreign = new Set<string>()
    for (const fence of (await Promise.all(edges.map((edge) => edge.fencesOf(hosts)))).flat()) {
      if (fence.store !== undefined && fence.store !== id) foreign.add(fence.host)
      const known = newest.get(fence.host)
      if (!known || isHigher(fence, known)) newest.set(fence.host, fence)
    }
    // A host without a number was adopted by a rebuild, and not changed by this store yet.
    const isNewer = ({ host, epoch: of, number }: HostFence) =>
      of > epoch || number > (own.get(hostLease(host)) ?? Number.POSITIVE_INFINITY)
    return new Set([...foreign, ...[...newest.values()].filter(isNewer).map(({ host }) => host)])
  }

  /** Those of the hosts that a run of this store has changed last on the Primary. */
  async #seenOnPrimary(hosts: readonly string[], primary: Edge | undefined): Promise<ReadonlySet<string>> {
    if (hosts.length === 0 || !primary) return new Set()
    const epoch = await this.#store.epoch()
    const fences = await primary.fencesOf(hosts)
    return new Set(fences.filter((fence) => fence.epoch === epoch).map(({ host }) => host))
  }

  /** Whether the newest run that decides about the host has taken it off. The host may have had several plans since the edge was away. */
  async #isRemoved(host: string): Promise<boolean> {
    const last = (await this.#store.runsOfHost(host)).findLast(({ action }) => DECIDES.includes(action))
    if (!last) return false
    const isGone = last.action === 'remove' || last.action === 'accept'
    return last.state === (isGone ? 'succeeded' : 'rolled_back')
  }

  /** Whether the entry stands as it was applied, or is missing since before this store, and this version writes it otherwise. */
  async #isRenderedOtherwise(edge: Edge, { host, planId, receipt }: Exposure): Promise<boolean> {
    if (!receipt) return false
    const now = await edge.hashFiles(receipt.files.map(({ path }) => path))
    const isAsApplied = now.every(({ hash }, at) => hash === receipt.files[at]?.hash)
    // An edge remembers every host that a run has changed: what this store wrote and is missing now is drift. What a store before it
    // wrote is not: the edge may have lost its files before the restore.
    const isNew = async () => {
      if (now.some(({ hash }) => hash !== null)) return false
      const epoch = await this.#store.epoch()
      return (await edge.fencesOf([host])).every((fence) => fence.epoch < epoch)
    }
    if (!isAsApplied && !(await isNew())) return false
    const wanted = await this.#wanted(edge, planId, receipt)
    const after = await edge.hashFiles(wanted.map(({ path }) => path))
    return wanted.some((file, at) => hashOf(file).hash !== after[at]?.hash)
  }

  async #wanted(edge: Edge, planId: string, { certificate }: Receipt) {
    const plan = await this.#store.findPlan(planId)
    const pair = certificate && (await this.#pairOf(certificate))
    if (!plan || (certificate && !pair)) return []
    return edge.filesFor({ ...siteOf(plan), certificate: pair })
  }

  /** Thousands of hosts may share a certificate: it is read once in a look. */
  #pairOf(certificate: ChosenCertificate): Promise<SiteCertificate | undefined> {
    const known = this.#pairs.get(certificate.fingerprint)
    const pair = known ?? this.#loadPair(certificate).catch(() => undefined)
    this.#pairs.set(certificate.fingerprint, pair)
    return pair
  }
}

const isHigher = (one: HostFence, other: HostFence): boolean =>
  one.epoch > other.epoch || (one.epoch === other.epoch && one.number > other.number)

/**
 * Whether an edge has not what was applied, or not in the layout of its settings. An entry of the same plan that somebody edited
 * is drift, and left.
 */
function lags(edge: Edge, { planId, receipt }: Exposure, entry: StandingEntry | undefined): boolean {
  if (!receipt) return false
  const { certificate } = receipt
  // Nobody can give the edge a pair that only other edges have. It gets the host with the next certificate.
  if (certificate?.pairOnEdge && entry?.certificate !== edge.certificateId(certificate.fingerprint)) return false
  if (!entry?.isInLayout) return true
  return (
    entry.planId !== undefined &&
    (entry.planId !== planId || entry.certificate !== (certificate && edge.certificateId(certificate.fingerprint)))
  )
}

/** The files of an exposure on an edge, as they shall stand and as they stand. */
export interface FilesOnEdge {
  readonly server: string
  readonly expected: readonly FileHash[]
  readonly found: readonly FileHash[]
}

/**
 * The files of an exposure on the Secondary. Rejects if the pair of its certificate cannot be read. The receipt tells of the Primary;
 * on the Secondary only listen addresses can differ, so usually nothing has to be rendered.
 */
export async function filesOnSecondary(
  edge: Pick<Edge, 'server' | 'hashFiles' | 'filesFor'>,
  plan: Plan,
  { files, certificate }: Receipt,
  loadPair: StepParts['loadPair'],
): Promise<FilesOnEdge> {
  const { server } = edge
  const same = await edge.hashFiles(files.map(({ path }) => path))
  if (same.every(({ hash }, at) => hash === files[at]?.hash)) return { server, expected: files, found: same }
  const pair = certificate && (await loadPair(certificate))
  const expected = (await edge.filesFor({ ...siteOf(plan), certificate: pair })).map(hashOf)
  return { server, expected, found: await edge.hashFiles(expected.map(({ path }) => path)) }
}

/** What such files say in one word. */
export function secondaryEntry({ expected, found }: FilesOnEdge): SecondaryEntry {
  const differing = expected.filter(({ hash }, at) => found[at]?.hash !== hash)
  if (differing.length === 0) return 'in_step'
  const isGone = (path: string) => found.find((file) => file.path === path)?.hash === null
  return differing.some(({ path, hash }) => hash !== null && isGone(path)) ? 'missing' : 'differs'
}
