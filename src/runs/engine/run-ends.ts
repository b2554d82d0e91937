import { Problem } from '../../model/errors.ts'
import { aftersIn } from '../../model/receipt.ts'
import type { JournalEntry, Run } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import { SharedPoll } from '../../primitives/followers.ts'
import type { ChangeFeed } from '../../store/ports/events.ts'
import type { RunStore } from '../../store/ports/runs.ts'
import { outcomeOf, type RunResult, type StoredEnd } from './ending.ts'

type Source = Pick<RunStore, 'findRun' | 'readJournal'> & ChangeFeed

interface Waiting {
  readonly since: number
  /** When the store last answered. */
  answeredAt: number
  readonly resolve: (result: RunResult) => void
  readonly reject: (fault: Problem) => void
}

/** The longer time counts while the store announces the commits of other instances. */
const POLL_MS = 250
const TOLD_POLL_MS = 1_000
/** As long as a caller waits for a run of this instance whose end the store does not take. */
const LOST_MS = 10_000
/** Longer than the limits of all steps of a run. */
const LONGEST_MS = 15 * 60_000

/** Finds the ends of runs that other instances execute. */
export class RunEnds {
  readonly #store: Source
  readonly #clock: Clock
  readonly #waiting = new Map<string, Waiting>()
  readonly #poll: SharedPoll
  #isWatching = false

  constructor(store: Source, clock: Clock) {
    this.#store = store
    this.#clock = clock
    this.#poll = new SharedPoll(
      () => (store.isWatching() ? TOLD_POLL_MS : POLL_MS),
      () => this.#check(),
      clock,
    )
  }

  /** Resolves with the result of a run when it has ended. Rejects if that cannot be found out in time; the run goes on. */
  of({ runId }: Run): Promise<RunResult> {
    if (!this.#isWatching) this.#store.watch(() => this.#poll.soon())
    this.#isWatching = true
    const { promise, resolve, reject } = Promise.withResolvers<RunResult>()
    const since = this.#clock.monotonic()
    this.#waiting.set(runId, { since, answeredAt: since, resolve, reject })
    this.#poll.join()
    return promise.finally(() => {
      this.#waiting.delete(runId)
      this.#poll.leave()
    })
  }

  async #check(): Promise<void> {
    for (const [runId, waiting] of [...this.#waiting]) {
      const result = await this.#resultOf(runId).catch(() => 'lost' as const)
      const now = this.#clock.monotonic()
      if (result !== 'lost') waiting.answeredAt = now
      if (result !== 'lost' && result) waiting.resolve(result)
      else if (now - waiting.answeredAt > LOST_MS) waiting.reject(unknown('The store does not answer.'))
      else if (now - waiting.since > LONGEST_MS) waiting.reject(unknown('The run has not ended yet.'))
    }
  }

  /** Undefined while it goes on. */
  async #resultOf(runId: string): Promise<RunResult | undefined> {
    const run = await this.#store.findRun(runId)
    if (!run || run.state === 'running') return undefined
    const entries = await this.#store.readJournal(runId, 0)
    return { run, ...endIn(run, entries), afters: aftersIn(entries), finishedAt: run.finishedAt ?? run.startedAt }
  }
}

/** An instance of an earlier version, which may run beside during an upgrade, journals no more than the state. */
function endIn({ state, host }: Run, entries: readonly JournalEntry[]): Pick<RunResult, 'outcome' | 'hosts'> {
  const last = entries.findLast(({ step, mark }) => step === 'run' && mark === 'done')
  const { end } = (last?.image ?? {}) as { end?: StoredEnd }
  const told: StoredEnd = end ?? { kind: state === 'running' ? 'blocked' : state, steps: [], hosts: [host] }
  return { outcome: outcomeOf(told), hosts: told.hosts }
}

const unknown = (reason: string): Problem =>
  new Problem('unavailable', `${reason} Another instance executes the run.`, {
    nextAction: 'Follow the plan with GET /api/deploy/plans/{planId}.',
  })
