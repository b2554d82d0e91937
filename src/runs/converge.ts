import type { Edge, SiteCertificate, StandingEntry } from '../edge/contract.ts'
import { Problem, sentenceOf } from '../model/errors.ts'
import type { Plan, PlanState } from '../model/exposure.ts'
import type { ChosenCertificate, Receipt } from '../model/receipt.ts'
import { BY_SCHEDULE } from '../model/run.ts'
import { Slices } from '../primitives/slices.ts'
import type { Log } from '../runtime/log.ts'
import { type Exposure, eachExposure } from '../store/ports/exposures.ts'
import type { Store } from '../store/ports/store.ts'
import { begin } from './engine/begin.ts'
import type { Runs } from './engine/runs.ts'
import { hashOf } from './file-hash.ts'
import { type StepParts, siteOf } from './steps/context.ts'

interface ConvergeParts extends Pick<StepParts, 'primary' | 'secondary' | 'loadPair'> {
  readonly store: Store
  readonly runs: Runs
  readonly instance: string
  readonly log: Log
  readonly now: () => number
}

/** How far an edge is from what the store says. */
export interface EdgeStanding {
  readonly server: string
  /** How many hosts it has. */
  readonly entries: number
  /** Hosts that the edge lacks, or has as another plan or with another certificate. */
  readonly behind: readonly string[]
  /** Hosts that a Secondary still has although their plans have ended. */
  readonly orphans: readonly string[]
  /**
   * Hosts of plans that this store does not know: of another installation, or newer than the store. On the Primary also those of
   * plans that have ended: somebody has restored them. They are never touched.
   */
  readonly unknown: readonly string[]
  /** Why the edge is not brought into step now. */
  readonly reason?: string
}

/** A removal of more hosts than this, or of more than this part, is not made without an administrator. */
const ORPHANS_AT_ONCE = 3
const ORPHANS_PART = 0.05

/** Plans whose hosts have left the edges. */
const ENDED: readonly PlanState[] = ['removed', 'rolled_back', 'expired', 'replaced', 'released']

/**
 * Compares every edge with the store and closes what is ours and differs, in one run for each edge. The Secondary gets what it
 * missed while it was away. On the Primary only what this version writes otherwise is written again, and entries of plans that
 * have ended are shown: what somebody else changed there is drift, which a repair or an accept decides.
 */
export class Converge {
  readonly #parts: ConvergeParts
  readonly #standings = new Map<string, EdgeStanding>()
  readonly #told = new Map<string, string>()
  /** The state of store and edges at the last look, if everything was in step. While it is the same, there is nothing to compare. */
  #inStepAt: string | undefined
  #isRendered = false
  readonly #pairs = new Map<string, Promise<SiteCertificate | undefined>>()
  readonly #slices = new Slices(SLICE_MS)
  #underWay: Promise<void> | undefined

  constructor(parts: ConvergeParts) {
    this.#parts = parts
  }

  /** As far as each edge was at the last look. */
  get standings(): readonly EdgeStanding[] {
    return [...this.#standings.values()]
  }

  /** One look at every edge, never two at once. */
  look(): Promise<void> {
    this.#underWay ??= this.#lookOnce().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  async #lookOnce(): Promise<void> {
    const { primary, secondary, store } = this.#parts
    const edges = [primary, secondary].flatMap((edge) => edge ?? [])
    const state = JSON.stringify([
      await store.eventHead(),
      ...(await Promise.all(edges.map((edge) => edge.generation()))),
    ])
    if (state === this.#inStepAt) return
    const exposures = await this.#exposures()
    this.#pairs.clear()
    if (primary) await this.#lookAt(primary, exposures, true)
    if (secondary) await this.#lookAt(secondary, exposures, false)
    // The next look compares everything once more if this one has changed an edge.
    this.#inStepAt = this.standings.every(({ reason }) => reason === undefined) ? state : undefined
  }

  async #lookAt(edge: Edge, exposures: ReadonlyMap<string, Exposure>, isPrimary: boolean): Promise<void> {
    const standing = await this.#standing(edge, exposures, isPrimary)
    const { behind, orphans, entries } = standing
    const limit = Math.max(ORPHANS_AT_ONCE, entries * ORPHANS_PART)
    const isTooMuch = orphans.length > limit
    const reason = isTooMuch
      ? `${orphans.length} of ${entries} hosts would be taken off the edge, which is more than ${Math.floor(limit)}.`
      : behind.length + orphans.length > 0
        ? await this.#close(edge, standing, exposures)
        : undefined
    this.#tell(reason === undefined ? { ...standing, behind: [], orphans: [] } : { ...standing, reason })
    if (isPrimary && reason === undefined) this.#isRendered = true
  }

  /** All exposures, by host. */
  async #exposures(): Promise<Map<string, Exposure>> {
    const exposures = new Map<string, Exposure>()
    for await (const exposure of eachExposure(this.#parts.store)) {
      exposures.set(exposure.host, exposure)
      if (this.#slices.isOver) await this.#slices.next()
    }
    return exposures
  }

  async #standing(edge: Edge, exposures: ReadonlyMap<string, Exposure>, isPrimary: boolean): Promise<EdgeStanding> {
    const standing = new Map((await edge.list()).map((entry) => [entry.host, entry]))
    const foreign = await this.#foreign(standing, exposures, isPrimary)
    const settled = [...exposures.values()].filter(({ state, runId }) => state === 'applied' && runId === undefined)
    const isUnknown = new Set(foreign.unknown)
    const behind: string[] = []
    for (const exposure of settled) {
      if (this.#slices.isOver) await this.#slices.next()
      if (isUnknown.has(exposure.host)) continue
      const isBehind = isPrimary
        ? !this.#isRendered && (await this.#isRenderedOtherwise(edge, exposure))
        : lags(edge, exposure, standing.get(exposure.host))
      if (isBehind) behind.push(exposure.host)
    }
    return { server: edge.server, entries: standing.size, behind, ...foreign }
  }

  /** Entries that are not those of an exposure. */
  async #foreign(
    standing: ReadonlyMap<string, StandingEntry>,
    exposures: ReadonlyMap<string, Exposure>,
    isPrimary: boolean,
  ) {
    const orphans: string[] = []
    const unknown: string[] = []
    for (const { host, planId } of standing.values()) {
      if (this.#slices.isOver) await this.#slices.next()
      if (planId === undefined || exposures.get(host)?.planId === planId) continue
      const plan = await this.#parts.store.findPlan(planId)
      const hasEnded = plan !== undefined && !exposures.has(host) && ENDED.includes(plan.state)
      if (hasEnded && !isPrimary) orphans.push(host)
      else if (!plan || hasEnded) unknown.push(host)
    }
    return { orphans, unknown }
  }

  /** Whether the entry stands as it was applied, and this version writes it otherwise. */
  async #isRenderedOtherwise(edge: Edge, { planId, receipt }: Exposure): Promise<boolean> {
    if (!receipt) return false
    const now = await edge.hashFiles(receipt.files.map(({ path }) => path))
    if (now.some(({ hash }, at) => hash !== receipt.files[at]?.hash)) return false
    const wanted = await this.#wanted(edge, planId, receipt)
    const after = await edge.hashFiles(wanted.map(({ path }) => path))
    return wanted.some((file, at) => hashOf(file).hash !== after[at]?.hash)
  }

  async #wanted(edge: Edge, planId: string, { certificate }: Receipt) {
    const plan = await this.#parts.store.findPlan(planId)
    const pair = certificate && (await this.#pairOf(certificate))
    if (!plan || (certificate && !pair)) return []
    return edge.filesFor({ ...siteOf(plan), certificate: pair })
  }

  /** Thousands of hosts may share a certificate: it is read once in a look. */
  #pairOf(certificate: ChosenCertificate): Promise<SiteCertificate | undefined> {
    const known = this.#pairs.get(certificate.fingerprint)
    const pair = known ?? this.#parts.loadPair(certificate).catch(() => undefined)
    this.#pairs.set(certificate.fingerprint, pair)
    return pair
  }

  /** Begins the run and waits for it. Resolves with the reason if the edge is not in step after it. */
  async #close(
    edge: Edge,
    { behind, orphans }: EdgeStanding,
    exposures: ReadonlyMap<string, Exposure>,
  ): Promise<string | undefined> {
    const { store, runs, instance, now } = this.#parts
    try {
      await edge.assertValid()
      if ((await edge.ask(NOBODY)).kind !== 'no_answer')
        return `Another program answers at the address of edge ${edge.server}.`
      const members = behind.flatMap((host) => exposures.get(host) ?? [])
      const lead = await this.#leadOf(edge, members, orphans)
      if (!lead) return undefined
      const begun = await store.transaction((session) =>
        begin(
          {
            action: 'converge',
            plan: lead,
            task: { edge: edge.server },
            members: members.filter(({ host }) => host !== lead.host),
            orphans,
            origin: BY_SCHEDULE,
            instance,
            leaseMs: runs.leaseMs,
            at: now(),
          },
          session,
        ),
      )
      const { outcome } = await runs.start({ plan: lead, ...begun })
      return outcome.kind === 'succeeded' ? undefined : sentenceOf(outcome.fault)
    } catch (error) {
      return error instanceof Problem && error.code === 'plan_busy'
        ? 'A run changes one of the hosts.'
        : sentenceOf(error)
    }
  }

  /** The plan under which the run is kept in the books: that of an exposure or, if there is none, of an entry that goes. */
  async #leadOf(edge: Edge, members: readonly Exposure[], orphans: readonly string[]): Promise<Plan | undefined> {
    const [first] = members
    const entry = first ?? (await edge.list()).find(({ host }) => host === orphans[0])
    return entry?.planId === undefined ? undefined : this.#parts.store.findPlan(entry.planId)
  }

  /** Says once what the edge lacks, and once that it is in step again. */
  #tell(standing: EdgeStanding): void {
    const { server, behind, orphans, unknown, reason } = standing
    this.#standings.set(server, standing)
    const told = JSON.stringify([reason, unknown])
    if (this.#told.get(server) === told) return
    const before = this.#told.get(server)
    this.#told.set(server, told)
    const facts = { server, behind: behind.length, orphans: orphans.length, unknown: unknown.length, reason }
    if (reason !== undefined)
      this.#parts.log.warn({ event: 'edge_out_of_step', ...facts }, 'Edge is not in step with the store')
    else if (unknown.length > 0)
      this.#parts.log.warn(
        { event: 'edge_has_unknown_hosts', ...facts },
        'Edge has hosts that this store does not know; they stay',
      )
    else if (before !== undefined)
      this.#parts.log.info({ event: 'edge_in_step', ...facts }, 'Edge is in step with the store')
  }
}

/** A store of thousands of hosts is compared in slices, so that others work meanwhile. */
const SLICE_MS = 5

/** A name that no edge serves: its default server answers. */
const NOBODY = { host: 'nobody.drawbridge.invalid', path: '/', tls: false }

/**
 * Whether an edge has not what was applied, or not in the layout of its settings. An entry of the same plan that somebody edited
 * is drift, and left.
 */
function lags(edge: Edge, { planId, receipt }: Exposure, entry: StandingEntry | undefined): boolean {
  if (!receipt) return false
  if (!entry?.isInLayout) return true
  const { certificate } = receipt
  return (
    entry.planId !== undefined &&
    (entry.planId !== planId || entry.certificate !== (certificate && edge.certificateId(certificate.fingerprint)))
  )
}
