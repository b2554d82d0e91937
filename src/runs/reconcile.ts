import type { Edge } from '../edge/contract/edge.ts'
import type { ListedHost } from '../edge/contract/list.ts'
import { certificateId } from '../edge/record/entry.ts'
import { recordsOf } from '../model/receipt.ts'
import { type HostFence, hostLease } from '../model/run.ts'
import { Slots } from '../primitives/slots.ts'
import { type Exposure, type ExposureStore, eachExposure } from '../store/ports/exposures.ts'
import type { LeaseStore } from '../store/ports/leases.ts'
import type { PlanStore } from '../store/ports/plans.ts'
import type { RunStore } from '../store/ports/runs.ts'
import type { Store } from '../store/ports/store.ts'
import type { Shortfall } from './edge-standings.ts'
import type { StepParts } from './steps/context.ts'

type ReconciledStore = Pick<Store, 'epoch' | 'storeId'> &
  Pick<ExposureStore, 'listExposures' | 'confirmExposures'> &
  Pick<PlanStore, 'findPlan'> &
  Pick<RunStore, 'runsOfHost'> &
  Pick<LeaseStore, 'lastFences'>

/**
 * Why nothing is done with a host by itself since the store was restored or rebuilt. `newer`: a run that this store does not know has
 * changed it on an edge. `gone`: such a run has taken it off an edge. `older_certificate`: an edge has another certificate than the
 * store, which may be the older one. `unread`: an edge could not be read. `records`: its zone has other records than the store.
 * `unanswered`: its zone gave no certain answer. `end`: its end may have been moved.
 */
type WaitingReason = 'newer' | 'gone' | 'older_certificate' | 'unread' | 'records' | 'unanswered' | 'end'

/** A host that waits for a person, an edge, or a name server. */
export interface WaitingHost {
  readonly host: string
  readonly why: WaitingReason
  /** Undefined for an end, and for a zone. */
  readonly edge: string | undefined
}

type Doubt = Omit<WaitingHost, 'host'>

/** What this store knows of itself and its hosts. */
interface Known {
  readonly epoch: number
  readonly storeId: string
  /** The numbers of its newest runs, by lease. */
  readonly fences: ReadonlyMap<string, number>
}

/** How an edge has a host that a run has changed there. */
interface Seen {
  readonly server: string
  readonly listed: ListedHost
  readonly fence: HostFence
}

/** A restored or rebuilt store begins in reconcile: what is equal everywhere is confirmed, and all else waits. */
export class Reconcile {
  readonly #store: ReconciledStore
  readonly #edges: readonly Edge[]
  readonly #readBack: StepParts['readBack']

  constructor(store: ReconciledStore, edges: readonly Edge[], readBack: StepParts['readBack']) {
    this.#store = store
    this.#edges = edges
    this.#readBack = readBack
  }

  /** Confirms hosts that are equal everywhere. Resolves with those that wait, and with whether any was confirmed. */
  async confirmEqual(
    exposures: Iterable<Exposure>,
  ): Promise<{ readonly confirmed: boolean; readonly waiting: readonly WaitingHost[] }> {
    const { equal, waiting } = await this.#look(exposures)
    await this.#store.confirmExposures(equal, 'edges')
    return { confirmed: equal.length > 0, waiting }
  }

  /** Changes nothing. */
  async waiting(): Promise<readonly WaitingHost[]> {
    return (await this.#look(await Array.fromAsync(eachExposure(this.#store)))).waiting
  }

  /** A person has decided: what the store says of these hosts holds. */
  async settle(hosts: readonly string[]): Promise<void> {
    await this.#store.confirmExposures(hosts, 'end')
  }

  async #look(exposures: Iterable<Exposure>): Promise<{ equal: readonly string[]; waiting: readonly WaitingHost[] }> {
    const unconfirmed = [...exposures].filter((exposure) => exposure.unconfirmed !== undefined)
    const compared = unconfirmed.filter((exposure) => exposure.unconfirmed === 'edges')
    const onEdges = await this.#doubts(compared)
    const inZones = await this.#zoneDoubts(compared.filter(({ host }) => !onEdges.has(host)))
    const doubts = new Map([...onEdges, ...inZones])
    const equal: string[] = []
    const waiting: WaitingHost[] = []
    for (const { host, unconfirmed: what, expiresAt } of unconfirmed) {
      const doubt = doubts.get(host)
      if (doubt) waiting.push({ host, ...doubt })
      else {
        if (what === 'edges') equal.push(host)
        if (expiresAt !== undefined) waiting.push({ host, why: 'end', edge: undefined })
      }
    }
    return { equal, waiting }
  }

  /** By host. Of every host, if an edge cannot be read. */
  async #doubts(exposures: readonly Exposure[]): Promise<ReadonlyMap<string, Doubt>> {
    if (exposures.length === 0) return new Map()
    const hosts = exposures.map(({ host }) => host)
    const [epoch, storeId] = await Promise.all([this.#store.epoch(), this.#store.storeId()])
    const known = { epoch, storeId, fences: await this.#store.lastFences(hosts.map(hostLease)) }
    const nothingRead = (edge: string | undefined) =>
      new Map(hosts.map((host) => [host, { why: 'unread', edge } as const]))
    if (this.#edges.length === 0) return nothingRead(undefined)
    const seen = new Map<string, Seen[]>(hosts.map((host) => [host, []]))
    for (const edge of this.#edges) {
      const { server } = edge
      const list = await edge.list(hosts).catch(() => undefined)
      if (!list) return nothingRead(server)
      for (const listed of list.hosts)
        if (listed.fence) seen.get(listed.host)?.push({ server, listed, fence: listed.fence })
    }
    const doubts = new Map<string, Doubt>()
    for (const exposure of exposures) {
      const doubt = doubtOf(exposure, seen.get(exposure.host), known)
      if (!doubt) continue
      const { isNewer, ...told } = doubt
      if (isNewer || !(await this.#isOwnNumber(exposure, known))) doubts.set(exposure.host, told)
    }
    return doubts
  }

  /**
   * Whether the number of the host is from before the restore: then what an edge has under it was lost there, or edited. A rebuild has
   * taken it from the edges. A run of this store that failed has raised it; one that succeeded has confirmed the host.
   */
  async #isOwnNumber({ host, fence }: Exposure, { fences }: Known): Promise<boolean> {
    const number = fences.get(hostLease(host))
    if (fence === 0 || number === undefined) return false
    const runs = await this.#store.runsOfHost(host)
    return !runs.some((run) => run.fence === number && run.state !== 'succeeded')
  }

  /** By host. Once a zone has been silent several times in a row, its other hosts wait for the next look. */
  async #zoneDoubts(exposures: readonly Exposure[]): Promise<ReadonlyMap<string, Doubt>> {
    const slots = new Slots(ASKED_AT_ONCE)
    const silent = new Map<string, number>()
    const reasonFor = async ({ planId, receipt }: Exposure): Promise<WaitingReason | undefined> => {
      const plan = await this.#store.findPlan(planId)
      const records = plan ? recordsOf(plan, receipt) : []
      if (!plan || records.length === 0) return undefined
      const { zone } = plan.request
      if ((silent.get(zone) ?? 0) >= SILENT_AT_MOST) return 'unanswered'
      const held = await this.#readBack(zone, records, NEVER_ABORTED).catch(() => 'unknown' as const)
      silent.set(zone, held === 'unknown' ? (silent.get(zone) ?? 0) + 1 : 0)
      if (held === 'yes') return undefined
      return held === 'unknown' ? 'unanswered' : 'records'
    }
    const reasons = await Promise.all(exposures.map((exposure) => slots.run(() => reasonFor(exposure))))
    const doubts = exposures.map(({ host }, index) => [host, reasons[index]] as const)
    return new Map(doubts.flatMap(([host, why]) => (why ? [[host, { why, edge: undefined }]] : [])))
  }
}

const ASKED_AT_ONCE = 8
const SILENT_AT_MOST = 8
const NEVER_ABORTED = new AbortController().signal

/** The edges that the newest run of the host has changed tell how the host has to be. What is older there is only behind. */
function doubtOf(
  exposure: Exposure,
  seen: readonly Seen[] = [],
  { epoch, storeId, fences }: Known,
): (Doubt & { readonly isNewer: boolean }) | undefined {
  const foreign = seen.find(({ fence }) => fence.store !== undefined && fence.store !== storeId)
  if (foreign) return { why: 'newer', edge: foreign.server, isNewer: true }
  const newest = seen.filter(({ fence }) => !seen.some((other) => isHigher(other.fence, fence)))
  const [first] = newest
  if (!first) return undefined
  const isNewer = isNewerThan(first.fence, epoch, fences.get(hostLease(exposure.host)))
  for (const { server, listed } of newest) {
    const why = differenceOf(exposure, listed)
    if (why) return { why, edge: server, isNewer }
  }
  return isNewer ? { why: 'newer', edge: first.server, isNewer } : undefined
}

function differenceOf({ planId, receipt }: Exposure, { entry, revision }: ListedHost): WaitingReason | undefined {
  if (revision === null) return 'gone'
  // What somebody has edited beyond recognition is drift.
  if (!entry) return undefined
  if (entry.plan !== planId) return 'newer'
  const fingerprint = receipt?.certificate?.fingerprint
  const expected = fingerprint === undefined ? null : certificateId(fingerprint)
  return entry.certificate === expected ? undefined : 'older_certificate'
}

/** Whether a run that this store does not know has changed the host. `number`: of its own newest run; undefined if it has none. */
export const isNewerThan = (fence: HostFence, epoch: number, number: number | undefined): boolean =>
  fence.epoch > epoch || fence.number > (number ?? Number.POSITIVE_INFINITY)

export const isHigher = (one: HostFence, other: HostFence): boolean =>
  one.epoch > other.epoch || (one.epoch === other.epoch && one.number > other.number)

/** The command with which a person settles what waits. */
const RECONCILE = 'drawbridge reconcile'

const NAMED_AT_MOST = 10

/** What waits, as a sentence that names the first hosts. */
export function waitingShortfall(waiting: readonly WaitingHost[]): Shortfall {
  const named = waiting.slice(0, NAMED_AT_MOST).map((one) => `${one.host} (${reasonOf(one)})`)
  const more = waiting.length > named.length ? [`${waiting.length - named.length} more`] : []
  const count = waiting.length === 1 ? '1 host waits' : `${waiting.length} hosts wait`
  return {
    cause: 'restored',
    sentence:
      `Since the store was restored or rebuilt, ${count} for confirmation, and nothing is done with them: ` +
      `${[...named, ...more].join(', ')}. Run "${RECONCILE}" on the server.`,
  }
}

const REASONS: Readonly<Record<WaitingReason, string>> = {
  newer: 'newer on edge',
  gone: 'gone on edge',
  older_certificate: 'another certificate on edge',
  unread: 'not read: edge',
  records: 'other records in DNS',
  unanswered: 'no certain answer from DNS',
  end: 'end in doubt',
}

export const reasonOf = ({ why, edge }: WaitingHost): string => [REASONS[why], edge].filter(Boolean).join(' ')
