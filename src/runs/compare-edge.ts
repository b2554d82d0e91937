import type { Edge } from '../edge/contract/edge.ts'
import { type ListedHost, stateOf } from '../edge/contract/list.ts'
import { certificateId } from '../edge/record/entry.ts'
import type { Plan, PlanState } from '../model/exposure.ts'
import type { ComparedEdge, SecondaryEntry } from '../model/host-status.ts'
import type { ChosenCertificate, Receipt } from '../model/receipt.ts'
import { type HostFence, hostLease, type RunAction } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import { Slices } from '../primitives/slices.ts'
import { type Exposure, type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { LeaseStore } from '../store/ports/leases.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunStore } from '../store/ports/runs.ts'
import type { Store } from '../store/ports/store.ts'
import { isHigher, isNewerThan } from './reconcile.ts'

/** Only reads. */
type ComparedStore = Pick<Store, 'epoch' | 'storeId'> &
  Pick<ExposureStore, 'listExposures'> &
  Pick<PlanStore, 'findPlan'> &
  Pick<RunStore, 'runsOfHost'> &
  Pick<LeaseStore, 'lastFences'>

/** Plans whose hosts have left the edges. */
const ENDED: readonly PlanState[] = ['removed', 'rolled_back', 'expired', 'replaced', 'released']

/** Runs that decide whether an edge has the host of their plan. */
const DECIDES: readonly RunAction[] = ['apply', 'update', 'remove', 'accept']

/** Compares edges with a store. Changes nothing. */
export class EdgeComparison {
  readonly #store: ComparedStore
  readonly #slices: Slices

  constructor(store: ComparedStore, clock: Clock) {
    this.#slices = new Slices(clock)
    this.#store = store
  }

  /** All exposures, by host. */
  async exposures(): Promise<Map<string, Exposure>> {
    const exposures = new Map<string, Exposure>()
    for await (const exposure of eachExposure(this.#store)) {
      exposures.set(exposure.host, exposure)
      if (this.#slices.isOver) await this.#slices.next()
    }
    return exposures
  }

  /** The Primary is behind where it has no entry since before the store was restored. Every other missing entry is drift. */
  async primary(edge: Edge, exposures: ReadonlyMap<string, Exposure>): Promise<ComparedEdge> {
    const epoch = await this.#store.epoch()
    // An edge remembers every host that a run has changed: what this store wrote and is missing now is drift.
    const isBehind = ({ receipt }: Exposure, listed: ListedHost | undefined, fence: HostFence | undefined) =>
      receipt !== undefined && listed === undefined && (fence === undefined || fence.epoch < epoch)
    const { orphans, doubtful, unknown, ...compared } = await this.#compare(edge, exposures, isBehind)
    return { ...compared, orphans: [], doubtful: [], unknown: [...orphans, ...doubtful, ...unknown] }
  }

  /** `primary` tells which removals this store has made: undefined where it is not at hand. */
  async secondary(
    edge: Edge,
    exposures: ReadonlyMap<string, Exposure>,
    primary: Edge | undefined,
  ): Promise<ComparedEdge> {
    return this.#compare(edge, exposures, isBehindOnSecondary, primary)
  }

  async #compare(
    edge: Edge,
    exposures: ReadonlyMap<string, Exposure>,
    isBehind: (exposure: Exposure, listed: ListedHost | undefined, fence: HostFence | undefined) => boolean,
    primary?: Edge,
  ): Promise<ComparedEdge> {
    const { hosts, stray } = await edge.list()
    const standing = new Map(hosts.map((listed) => [listed.host, listed]))
    const foreign = await this.#foreign(edge, standing, exposures, primary)
    const isUnknown = new Set(foreign.unknown)
    const settled = [...exposures.values()].filter(
      ({ host, state, runId, unconfirmed }) =>
        state === 'applied' && runId === undefined && unconfirmed !== 'edges' && !isUnknown.has(host),
    )
    const absent = settled.flatMap(({ host }) => (standing.has(host) ? [] : [host]))
    const gone = new Map((await fencesOn(edge, absent)).map((fence) => [fence.host, fence]))
    const found: string[] = []
    for (const exposure of settled) {
      if (this.#slices.isOver) await this.#slices.next()
      const { host } = exposure
      const listed = standing.get(host)
      if (isBehind(exposure, listed, listed?.fence ?? gone.get(host))) found.push(host)
    }
    const newer = await this.#newer([edge, ...(primary ? [primary] : [])], found)
    const behind = found.filter((host) => !newer.has(host))
    const unknown = [...foreign.unknown, ...newer]
    return { server: edge.server, entries: standing.size, behind, ...foreign, unknown, stray }
  }

  /** Entries that are not those of an exposure. */
  async #foreign(
    edge: Edge,
    standing: ReadonlyMap<string, ListedHost>,
    exposures: ReadonlyMap<string, Exposure>,
    primary: Edge | undefined,
  ): Promise<Pick<ComparedEdge, 'orphans' | 'doubtful' | 'unknown' | 'endedPlans'>> {
    const unknown: string[] = []
    const plans: Record<string, string> = {}
    for (const { host, entry } of standing.values()) {
      if (this.#slices.isOver) await this.#slices.next()
      const planId = entry?.plan
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

  /** Those of the hosts that a run has changed on one of the edges which this store does not know: of another store, or of a newer copy. */
  async #newer(edges: readonly Edge[], hosts: readonly string[]): Promise<ReadonlySet<string>> {
    if (hosts.length === 0) return new Set()
    const [epoch, id] = await Promise.all([this.#store.epoch(), this.#store.storeId()])
    const own = await this.#store.lastFences(hosts.map(hostLease))
    const newest = new Map<string, HostFence>()
    const foreign = new Set<string>()
    for (const fence of (await Promise.all(edges.map((edge) => fencesOn(edge, hosts)))).flat()) {
      if (this.#slices.isOver) await this.#slices.next()
      if (fence.store !== undefined && fence.store !== id) foreign.add(fence.host)
      const known = newest.get(fence.host)
      if (!known || isHigher(fence, known)) newest.set(fence.host, fence)
    }
    const isNewer = (fence: HostFence) => isNewerThan(fence, epoch, own.get(hostLease(fence.host)))
    return new Set([...foreign, ...[...newest.values()].filter(isNewer).map(({ host }) => host)])
  }

  /** Those of the hosts that a run of this store has changed last on the Primary. */
  async #seenOnPrimary(hosts: readonly string[], primary: Edge | undefined): Promise<ReadonlySet<string>> {
    if (hosts.length === 0 || !primary) return new Set()
    const epoch = await this.#store.epoch()
    const fences = await fencesOn(primary, hosts)
    return new Set(fences.filter((fence) => fence.epoch === epoch).map(({ host }) => host))
  }

  /** Whether the newest run that decides about the host has taken it off. The host may have had several plans since the edge was away. */
  async #isRemoved(host: string): Promise<boolean> {
    const last = (await this.#store.runsOfHost(host)).findLast(({ action }) => DECIDES.includes(action))
    if (!last) return false
    const isGone = last.action === 'remove' || last.action === 'accept'
    return last.state === (isGone ? 'succeeded' : 'rolled_back')
  }
}

async function fencesOn(edge: Edge, hosts: readonly string[]): Promise<readonly HostFence[]> {
  if (hosts.length === 0) return []
  return (await edge.list(hosts)).hosts.flatMap(({ fence }) => fence ?? [])
}

/** Whether the Secondary is behind. An entry that somebody edited there is drift and stays; only its certificate is replaced. */
function isBehindOnSecondary({ planId, receipt }: Exposure, listed: ListedHost | undefined): boolean {
  if (!receipt) return false
  const { certificate } = receipt
  const id = certificate ? certificateId(certificate.fingerprint) : null
  // The pair exists only on other edges, so this edge cannot get it. It gets the host with the next certificate.
  if (certificate?.pairOnEdge && listed?.entry?.certificate !== id) return false
  if (!listed) return true
  const { entry, drift } = listed
  if (!entry) return false
  const isEdited = drift.some(({ found }) => found !== 'missing')
  if (isEdited) return entry.plan === planId && entry.certificate !== id && isCertificateOurs(listed)
  return drift.length > 0 || entry.plan !== planId || entry.certificate !== id
}

const isCertificateOurs = ({ drift }: ListedHost): boolean => drift.every(({ field }) => field !== 'certificate')

/** What the Secondary has of an exposure, in one word. */
export async function secondaryState(
  edge: Pick<Edge, 'list'>,
  { host, planId, request }: Plan,
  { certificate }: Receipt,
): Promise<SecondaryEntry | null> {
  const [listed] = (await edge.list([host])).hosts
  if (!listed) return null
  const state = stateOf(listed, { plan: planId, certificate: idOf(request.tls ? certificate : undefined) })
  if (state === 'unchanged') return 'in_step'
  return state === 'missing' ? 'missing' : 'differs'
}

const idOf = (certificate: ChosenCertificate | undefined): string | null =>
  certificate ? certificateId(certificate.fingerprint) : null
