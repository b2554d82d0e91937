import type { AuditLine } from '../model/audit.ts'
import type { StoredEvent } from '../model/event.ts'
import type { Plan } from '../model/exposure.ts'
import type { JournalEntry, Run } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import { WakeUp, wokenWithin } from '../primitives/followers.ts'
import { LruCache } from '../primitives/lru-cache.ts'
import { NewestPlans } from './newest-plans.ts'
import type { ChangeFeed } from './ports/events.ts'
import type { Exposure } from './ports/exposures.ts'
import { type Store, type StoreReads, StoreUnavailable } from './ports/store.ts'
import { Tail } from './tail.ts'

type Source = Omit<StoreReads, 'unconfirmedMs'> &
  Pick<Store, 'findPlans' | 'unfinishedRuns' | 'listExposures'> &
  ChangeFeed

/** Bounds of the memory: a plan with its runs and journals takes about 10 kB, an exposure 1 kB, an event or a line 0.5 kB. */
const MOST_PLANS = 3_000
const MOST_RUNS = 4_000
const MOST_EXPOSURES = 2_000
const MOST_EVENTS = 1_000
const MOST_LINES = 500

/** How often the store is looked at. The longer time counts while commits of others are told. */
const LOOK_MS = 500
const TOLD_LOOK_MS = 1_000
const LEAST_PAUSE_MS = 300
/** A store that hangs is not waited for where the answer is known. The shorter time counts once it is known to be lost. */
const PATIENCE_MS = 3_000
const LOST_PATIENCE_MS = 300
/** How many plans one look reads in the background: those of runs under way, and after the start all others. */
const READ_AT_ONCE = 20
const EXPOSURES_AT_ONCE = 500

interface Known<T> {
  readonly value: T
}

/**
 * Answers reads from the store and remembers what others may want to read while the database is lost: the newest plans and those of
 * all exposures, with their runs, the newest events and the newest lines of the audit. It follows the changes of all instances, so
 * what it remembers is as old as its last look.
 */
export class LastKnown implements StoreReads {
  readonly #store: Source
  readonly #clock: Clock
  readonly #told = new WakeUp()
  readonly #plans = new LruCache<string, Plan>(MOST_PLANS)
  readonly #runs = new LruCache<string, readonly Run[]>(MOST_PLANS)
  readonly #journals = new LruCache<string, readonly JournalEntry[]>(MOST_RUNS)
  /** Null for a host that has none. */
  readonly #exposures = new LruCache<string, Exposure | null>(MOST_EXPOSURES)
  readonly #events = new Tail<StoredEvent>(MOST_EVENTS)
  readonly #lines = new Tail<AuditLine>(MOST_LINES)
  readonly #newest = new NewestPlans()
  readonly #hosts = new Set<string>()
  #underWay: readonly Run[] = []
  /** Where the reading of all exposures goes on. Undefined when it has ended. */
  #fillAfter: string | undefined = ''
  /** Plans whose runs have not been read yet. */
  #toFill: string[] = []
  #confirmedAt: number
  #isLost = false
  #stopped = false
  #ended: Promise<void> = Promise.resolve()

  constructor(store: Source, clock: Clock) {
    this.#store = store
    this.#clock = clock
    this.#confirmedAt = clock.monotonic()
  }

  start(): void {
    this.#ended = this.#follow()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#told.call()
    await this.#ended
  }

  unconfirmedMs = (): number | undefined => (this.#isLost ? this.#clock.monotonic() - this.#confirmedAt : undefined)

  findPlan = (planId: string): Promise<Plan | undefined> =>
    this.#ask(
      async () => this.#keepPlan(await this.#store.findPlan(planId)),
      () => known(this.#plans.get(planId)),
    )

  listPlans: StoreReads['listPlans'] = (page) =>
    this.#ask(
      () => this.#store.listPlans(page),
      () => ({ value: this.#newest.page(page).flatMap((planId) => this.#plans.get(planId) ?? []) }),
    )

  runsOf = (planId: string): Promise<Run[]> =>
    this.#ask(
      async () => {
        const runs = await this.#store.runsOf(planId)
        this.#runs.set(planId, runs)
        return runs
      },
      () => known(this.#runs.get(planId)?.slice()),
    )

  newestRuns: StoreReads['newestRuns'] = (planIds) => this.#store.newestRuns(planIds)

  readJournal = (runId: string, afterSeq: number): Promise<JournalEntry[]> =>
    this.#ask(
      async () => {
        const entries = await this.#store.readJournal(runId, afterSeq)
        if (afterSeq === 0) this.#journals.set(runId, entries.map(withoutImages))
        return entries
      },
      () => known(this.#journals.get(runId)?.filter(({ seq }) => seq > afterSeq)),
    )

  /** An exposure from memory names no files: what a run has written since then is not known. */
  findExposure = (host: string): Promise<Exposure | undefined> =>
    this.#ask(
      async () => {
        const exposure = await this.#store.findExposure(host)
        this.#keepExposure(host, exposure)
        return exposure
      },
      () => {
        const exposure = this.#exposures.get(host)
        if (exposure === undefined) return this.#knowsAllHosts ? { value: undefined } : undefined
        return { value: exposure ?? undefined }
      },
    )

  eventHead = (): Promise<number> =>
    this.#ask(
      () => this.#store.eventHead(),
      () => known(this.#events.head),
    )

  readEvents: StoreReads['readEvents'] = (afterSeq, limit) =>
    this.#ask(
      () => this.#store.readEvents(afterSeq, limit),
      () => known(this.#events.after(afterSeq, limit)),
    )

  readEventsBefore: StoreReads['readEventsBefore'] = (beforeSeq, limit) =>
    this.#ask(
      () => this.#store.readEventsBefore(beforeSeq, limit),
      () => known(this.#events.before(beforeSeq, limit)),
    )

  readAudit: StoreReads['readAudit'] = (afterSeq, limit) =>
    this.#ask(
      () => this.#store.readAudit(afterSeq, limit),
      () => known(this.#lines.after(afterSeq, limit)),
    )

  auditHead: StoreReads['auditHead'] = () =>
    this.#ask(
      () => this.#store.auditHead(),
      () => known(this.#lines.last && { seq: this.#lines.last.seq, hash: this.#lines.last.hash }),
    )

  /** Whether a host that is not remembered is certain to have no exposure. */
  get #knowsAllHosts(): boolean {
    return this.#fillAfter === undefined && this.#hosts.size <= MOST_EXPOSURES
  }

  async #ask<T>(ask: () => Promise<T>, recall: () => Known<T> | undefined): Promise<T> {
    const answer = ask()
    const isLate = Symbol('late')
    try {
      const patienceMs = this.#isLost ? LOST_PATIENCE_MS : PATIENCE_MS
      const patience = this.#clock.sleep(patienceMs, { ref: false }).then(() => isLate)
      const first = await Promise.race([answer, patience])
      if (first !== isLate) return first as T
    } catch (error) {
      const remembered = error instanceof StoreUnavailable ? recall() : undefined
      if (!remembered) throw error
      this.#isLost = true
      return remembered.value
    }
    const remembered = recall()
    if (!remembered) return answer
    answer.catch(() => undefined)
    this.#isLost = true
    return remembered.value
  }

  async #follow(): Promise<void> {
    const stopWatching = this.#store.watch(() => this.#told.call())
    while (!this.#stopped) {
      const asked = this.#clock.monotonic()
      const overdue = this.#clock.after(PATIENCE_MS, () => {
        this.#isLost = true
      })
      await this.#look().then(
        () => {
          this.#confirmedAt = asked
          this.#isLost = false
        },
        () => {
          this.#isLost = true
        },
      )
      overdue.cancel()
      if (this.#stopped) break
      await this.#clock.sleep(LEAST_PAUSE_MS, { ref: false })
      await wokenWithin(this.#told, this.#store.isWatching() ? TOLD_LOOK_MS : LOOK_MS, this.#clock)
    }
    stopWatching()
  }

  /** Rejects when the store does not answer. */
  async #look(): Promise<void> {
    const { readEvents, readEventsBefore, auditHead, readAudit } = this.#store
    const newestEvents = (limit: number) => readEventsBefore(Number.MAX_SAFE_INTEGER, limit)
    const newestLines = async (limit: number) => readAudit(((await auditHead())?.seq ?? 0) - limit, limit)
    const events = await this.#events.readOn(newestEvents, readEvents)
    await this.#lines.readOn(newestLines, readAudit)
    for (const { plan, isNew } of await this.#newest.readOn(this.#store.listPlans)) {
      if (isNew) this.#toFill.push(plan.planId)
      this.#keepPlan(plan)
    }
    const underWay = await this.#store.unfinishedRuns()
    const running = new Set(underWay.map(({ runId }) => runId))
    const ended = this.#underWay.filter(({ runId }) => !running.has(runId))
    const changed = events.filter(({ type }) => type.startsWith('exposure.'))
    await this.#readAgain([...changed, ...ended, ...underWay.slice(0, READ_AT_ONCE)])
    this.#underWay = underWay
    await this.#fill()
  }

  /** Reads what runs and events are about. */
  async #readAgain(about: readonly { readonly host: string; readonly planId?: string | undefined }[]): Promise<void> {
    for (const host of new Set(about.map(({ host }) => host)))
      this.#keepExposure(host, await this.#store.findExposure(host))
    for (const planId of new Set(about.map(({ planId }) => planId)))
      if (planId !== undefined) await this.#readPlan(planId)
  }

  async #readPlan(planId: string): Promise<void> {
    this.#keepPlan(await this.#store.findPlan(planId))
    await this.#readRuns(planId)
  }

  async #readRuns(planId: string): Promise<void> {
    const runs = await this.#store.runsOf(planId)
    for (const { runId } of runs)
      this.#journals.set(runId, (await this.#store.readJournal(runId, 0)).map(withoutImages))
    this.#runs.set(planId, runs)
  }

  /** After the start: all exposures, their plans, and step by step the runs of those plans. */
  async #fill(): Promise<void> {
    if (this.#fillAfter !== undefined) {
      const page = await this.#store.listExposures({ after: this.#fillAfter, limit: EXPOSURES_AT_ONCE })
      for (const exposure of page) this.#keepExposure(exposure.host, exposure)
      const unread = page.map(({ planId }) => planId).filter((planId) => !this.#plans.get(planId))
      for (const plan of await this.#store.findPlans(unread)) this.#keepPlan(plan)
      this.#toFill.push(...unread)
      const isEnd = page.length < EXPOSURES_AT_ONCE || this.#hosts.size > MOST_EXPOSURES
      this.#fillAfter = isEnd ? undefined : page.at(-1)?.host
    }
    for (const planId of this.#toFill.slice(0, READ_AT_ONCE)) if (!this.#runs.get(planId)) await this.#readRuns(planId)
    this.#toFill = this.#toFill.slice(READ_AT_ONCE)
  }

  #keepPlan(plan: Plan | undefined): Plan | undefined {
    if (plan) this.#plans.set(plan.planId, plan)
    return plan
  }

  #keepExposure(host: string, exposure: Exposure | undefined): void {
    if (exposure) this.#hosts.add(host)
    else this.#hosts.delete(host)
    const receipt = exposure?.receipt && { ...exposure.receipt, files: [] }
    this.#exposures.set(host, exposure ? { ...exposure, receipt } : null)
  }
}

const known = <T>(value: T | undefined): Known<T> | undefined => (value === undefined ? undefined : { value })

/** What is told of a run needs only the images of its end and of its verdict. */
const withoutImages = ({ image, ...entry }: JournalEntry): JournalEntry =>
  entry.mark === 'verdict' || (entry.step === 'run' && entry.mark === 'done') ? { ...entry, image } : entry
