import type { Edge } from '../edge/contract/edge.ts'
import { Fault, Problem } from '../model/errors.ts'
import type { Plan } from '../model/exposure.ts'
import type { ComparedEdge } from '../model/host-status.ts'
import { BY_SCHEDULE, type Origin } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { Exposure } from '../store/ports/exposures.ts'
import type { Store } from '../store/ports/store.ts'
import { EdgeComparison } from './compare-edge.ts'
import { NOTHING_KNOWN, type Shortfall, shortfallOf } from './edge-standings.ts'
import type { Runs } from './engine/runs.ts'
import { Reconcile, type WaitingHost, waitingShortfall } from './reconcile.ts'
import { RefusedHosts } from './refused-hosts.ts'
import type { StepParts } from './steps/context.ts'
import { assertAnswers } from './steps/edge-answers.ts'
import { refusedRemoval, type SyncTask, wishesOf } from './sync-task.ts'

export interface ConvergeParts extends Pick<StepParts, 'primary' | 'secondary' | 'standings' | 'readBack'> {
  readonly store: Store
  readonly runs: Runs
  readonly log: Log
  readonly clock: Clock
  /** Where an edge answers over HTTP, as `address:port`. */
  readonly placeOf: (server: string) => string
  /** How many hosts a run writes, and how many it takes off. */
  readonly mostHosts?: number
}

const MOST_HOSTS = 250

/** A doubtful removal of more hosts than this, or of more than this part, is not made without a person. */
const REMOVED_AT_ONCE = 3
const REMOVED_PART = 0.05

/** How often the configuration of a Secondary is tested that nobody changes. */
const TEST_MS = 60_000

/** What a reconcile did on one edge: the hosts that it wrote or took off, and why the edge is out of sync, if it is. */
export interface Converged {
  readonly server: string
  readonly hosts: readonly string[]
  readonly outOfStep: string | undefined
}

/**
 * Compares every edge with the store and brings hosts that are out of sync back in sync, by runs. The Secondary gets what it missed
 * while it was away. The Primary gets only entries that are missing since before the store was restored. What somebody else changed on the
 * Primary is drift: a repair or an accept settles it.
 */
export class Converge {
  readonly #parts: ConvergeParts
  readonly #comparison: EdgeComparison
  readonly #reconcile: Reconcile
  readonly #told = new Map<string, string>()
  readonly #refused = new Map<string, RefusedHosts>()
  #triesAll = false
  /** The state of store and edges when everything was last in sync. While it is the same, there is nothing to compare. */
  #inStepAt: string | undefined
  #testedAt = Number.NEGATIVE_INFINITY

  constructor(parts: ConvergeParts) {
    this.#parts = parts
    const { store, clock, primary, secondary } = parts
    this.#comparison = new EdgeComparison(store, clock)
    this.#reconcile = new Reconcile(
      store,
      [primary, secondary].flatMap((edge) => edge ?? []),
      parts.readBack,
    )
  }

  /** The Secondary takes no change now. It is checked often, so that it is in sync soon after it is back. */
  get isAway(): boolean {
    const { secondary, standings } = this.#parts
    return secondary !== undefined && standings.unfit(secondary.server) !== undefined
  }

  /** Compares the edges, and changes nothing. */
  async compare(): Promise<readonly ComparedEdge[]> {
    const { primary, secondary } = this.#parts
    const exposures = await this.#comparison.exposures()
    const first = primary && (await this.#comparison.primary(primary, exposures))
    const second = secondary && (await this.#comparison.secondary(secondary, exposures, primary))
    return [first, second].filter((compared) => compared !== undefined)
  }

  /** Brings the Secondary into step, with the removals that are not made without a person. Rejects if it is not in step then. */
  async confirm(compared: ComparedEdge, origin: Origin): Promise<void> {
    const { secondary } = this.#parts
    if (secondary?.server !== compared.server) throw new Fault(`Edge ${compared.server} is not the Secondary.`)
    const exposures = await this.#comparison.exposures()
    const shortfall = await this.#closeAll(secondary, {
      members: compared.behind.flatMap((host) => exposures.get(host) ?? []),
      removes: [...compared.orphans, ...compared.doubtful],
      plans: compared.endedPlans ?? {},
      origin,
    })
    if (shortfall) throw new Fault(`Edge ${compared.server} was not brought into step: ${shortfall.sentence}`)
  }

  /** The next look tries all hosts, also those that an edge has just refused: a person wants it. */
  tryAll(): void {
    this.#triesAll = true
  }

  /** Reconciles every edge with the store. Never call it twice at the same time. */
  async reconcile(): Promise<readonly Converged[]> {
    const { primary, secondary, store, standings } = this.#parts
    if (this.#triesAll) this.#refused.clear()
    this.#triesAll = false
    const edges = [primary, secondary].flatMap((edge) => edge ?? [])
    const unfit = secondary && (await this.#unfitness(secondary))
    const state = JSON.stringify([
      await store.eventHead(),
      ...(await Promise.all(
        edges.map((edge) =>
          edge.list([]).then(
            ({ generation, stray }) => [generation, stray],
            () => 'unknown',
          ),
        ),
      )),
    ])
    const isInStep = () => !unfit && standings.all.every(({ outOfStep }) => outOfStep === undefined)
    if (state === this.#inStepAt && isInStep()) return edges.map(({ server }) => nothingDone(server))
    const found = await this.#comparison.exposures()
    const { confirmed, waiting } = await this.#reconcile.confirmEqual(found.values())
    const exposures = confirmed ? await this.#comparison.exposures() : found
    const compared = primary && (await this.#comparison.primary(primary, exposures))
    // What waits is told with the Primary.
    const first = primary && compared && (await this.#syncEdge(primary, compared, exposures, waiting))
    const second = secondary && (await this.#syncSecondary(secondary, exposures, unfit))
    // If this reconcile has changed an edge, the next one compares everything once more.
    this.#inStepAt = isInStep() ? state : undefined
    return [first, second].filter((converged) => converged !== undefined)
  }

  /** What waits since the store was restored or rebuilt. Changes nothing. */
  waiting = (): Promise<readonly WaitingHost[]> => this.#reconcile.waiting()

  /** A person confirms what the store says of these hosts. What is newer on an edge stays there until it is repaired, changed or removed. */
  settle = (hosts: readonly string[]): Promise<void> => this.#reconcile.settle(hosts)

  async #syncSecondary(
    edge: Edge,
    exposures: ReadonlyMap<string, Exposure>,
    unfit: Shortfall | undefined,
  ): Promise<Converged> {
    try {
      const compared = await this.#comparison.secondary(edge, exposures, this.#parts.primary)
      if (!unfit) return await this.#syncEdge(edge, compared, exposures)
      this.#tell(compared, unfit)
      return nothingDone(edge.server, unfit)
    } catch (error) {
      // The edge cannot be read. Keep what is known of it.
      const { server } = edge
      const known = this.#parts.standings.of(server) ?? NOTHING_KNOWN
      const shortfall = unfit ?? shortfallOf(error)
      this.#tell({ ...known, server }, shortfall)
      return nothingDone(server, shortfall)
    }
  }

  async #syncEdge(
    edge: Edge,
    compared: ComparedEdge,
    exposures: ReadonlyMap<string, Exposure>,
    waiting: readonly WaitingHost[] = [],
  ): Promise<Converged> {
    const { behind, orphans, doubtful, entries } = compared
    const limit = Math.max(REMOVED_AT_ONCE, entries * REMOVED_PART)
    const isTooMuch = doubtful.length > limit
    const plans = compared.endedPlans ?? {}
    const wanted: SyncTask = {
      members: behind.flatMap((host) => exposures.get(host) ?? []),
      removes: isTooMuch ? orphans : [...orphans, ...doubtful],
      ...{ plans, origin: BY_SCHEDULE },
    }
    const { hosts: waits, reason } = this.#refusedOn(edge).waiting(wishesOf(wanted))
    const isDue = (host: string) => !waits.has(host)
    const members = wanted.members.filter(({ host }) => isDue(host))
    const removes = wanted.removes.filter(isDue)
    const failed =
      members.length + removes.length > 0 ? await this.#closeAll(edge, { ...wanted, members, removes }) : undefined
    if (failed) {
      this.#tell(compared, failed)
      return nothingDone(edge.server, failed)
    }
    const done = new Set([...members.map(({ host }) => host), ...removes])
    const left = (hosts: readonly string[]) => hosts.filter((host) => !done.has(host))
    const refused = isTooMuch ? refusedRemoval(doubtful.length, entries, limit) : undefined
    const notDone = waits.size > 0 ? reason : refused
    const shortfall = notDone ?? (waiting.length > 0 ? waitingShortfall(waiting) : undefined)
    this.#tell({ ...compared, behind: left(behind), orphans: left(orphans), doubtful: left(doubtful) }, shortfall)
    return { server: edge.server, hosts: [...done], outOfStep: notDone?.sentence }
  }

  /** Why the Secondary takes no change now. Tests its configuration if it took no change before, and once in a while. */
  async #unfitness(edge: Edge): Promise<Shortfall | undefined> {
    const { standings, clock } = this.#parts
    const known = standings.unfit(edge.server)
    try {
      // It may never have been prepared, or come back with other files.
      if (known?.cause === 'away') await edge.prepare()
      if (known || clock.monotonic() - this.#testedAt >= TEST_MS) {
        await edge.assertValid()
        this.#testedAt = clock.monotonic()
      }
      await assertAnswers(edge, this.#parts.placeOf(edge.server))
      // What ended here may be why it took no host.
      if (known?.cause === 'away' || known?.cause === 'config_broken') this.#refusedOn(edge).clear()
      return undefined
    } catch (error) {
      return shortfallOf(error)
    }
  }

  /** In several runs, so that no message to the edge grows with the number of hosts. Ends with the first that fails. */
  async #closeAll(edge: Edge, { members, removes, ...task }: SyncTask): Promise<Shortfall | undefined> {
    const { mostHosts = MOST_HOSTS } = this.#parts
    for (let from = 0; from < Math.max(members.length, removes.length); from += mostHosts) {
      const part = <T>(all: readonly T[]) => all.slice(from, from + mostHosts)
      const failed = await this.#close(edge, { ...task, members: part(members), removes: part(removes) })
      if (failed) return failed
    }
    return undefined
  }

  /** Begins the run and waits for it. Resolves with the reason if the edge is not in step after it. */
  async #close(edge: Edge, task: SyncTask): Promise<Shortfall | undefined> {
    try {
      await edge.assertValid()
      await assertAnswers(edge, this.#parts.placeOf(edge.server))
      const lead = await this.#leadOf(task)
      if (lead) await this.#run(edge, lead, task)
      return undefined
    } catch (error) {
      const isBusy = error instanceof Problem && error.code === 'plan_busy'
      return isBusy ? { cause: 'catching_up', sentence: 'A run changes one of the hosts.' } : shortfallOf(error)
    }
  }

  /** Rejects if the run does not succeed. */
  async #run(edge: Edge, lead: Plan, wanted: SyncTask): Promise<void> {
    const { members, removes, plans, origin } = wanted
    const { store, runs } = this.#parts
    const task = { edge: edge.server, removes, removedPlans: plans }
    const further = members.filter(({ host }) => host !== lead.host)
    const begun = await store.transaction((session) =>
      runs.begin({ action: 'converge', plan: lead, task, members: further, orphans: removes, origin }, session),
    )
    const { outcome } = await runs.start(begun)
    if (outcome.kind === 'succeeded') return
    this.#refusedOn(edge).add(wishesOf(wanted), shortfallOf(outcome.fault))
    throw outcome.fault
  }

  #refusedOn({ server }: Edge): RefusedHosts {
    const known = this.#refused.get(server) ?? new RefusedHosts(this.#parts.clock)
    this.#refused.set(server, known)
    return known
  }

  /** The plan under which the store keeps the run: that of an exposure or, if there is none, of an entry that is taken off. */
  async #leadOf({ members: [first], removes: [gone = ''], plans }: SyncTask): Promise<Plan | undefined> {
    const planId = first?.planId ?? plans[gone]
    return planId === undefined ? undefined : this.#parts.store.findPlan(planId)
  }

  /** Logs once that the edge is out of sync, and once that it is in sync again. */
  #tell(compared: ComparedEdge, shortfall?: Shortfall): void {
    const { log, standings } = this.#parts
    const { server, behind, orphans, doubtful, unknown } = compared
    const isKnown = standings.of(server) !== undefined
    standings.report(compared, shortfall)
    const { cause, sentence } = shortfall ?? {}
    const told = JSON.stringify([cause, sentence, unknown])
    if (this.#told.get(server) === told) return
    this.#told.set(server, told)
    const counts = { behind: behind.length, orphans: orphans.length + doubtful.length, unknown: unknown.length }
    const facts = { server, ...counts, cause, reason: sentence }
    if (shortfall) log.warn({ event: 'edge_out_of_step', ...facts }, 'Edge is not in step with the store')
    else if (unknown.length > 0)
      log.warn({ event: 'edge_has_unknown_hosts', ...facts }, 'Edge has hosts that this store does not know; they stay')
    else if (isKnown) log.info({ event: 'edge_in_step', ...facts }, 'Edge is in step with the store')
  }
}

const nothingDone = (server: string, shortfall?: Shortfall): Converged => ({
  server,
  hosts: [],
  outOfStep: shortfall?.sentence,
})
