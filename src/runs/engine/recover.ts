import { Problem } from '../../model/errors.ts'
import { hostLease, NOBODY, type Run, runHolder } from '../../model/run.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { Log } from '../../runtime/log.ts'
import type { ExposureStore } from '../../store/ports/exposures.ts'
import type { LeaseStore } from '../../store/ports/leases.ts'
import type { PlanStore } from '../../store/ports/plans.ts'
import type { RunStore } from '../../store/ports/runs.ts'
import { type Left, type Runs, taskIn } from './runs.ts'
import { RetryLater } from './saga.ts'

interface RecoverParts {
  readonly store: RunStore & LeaseStore & Pick<PlanStore, 'findPlan'> & Pick<ExposureStore, 'exposuresOf'>
  readonly runs: Runs
  readonly instance: string
  readonly log: Log
  readonly clock: Clock
}

/** A run that no instance has taken up for this long is given up: a change would come too late for its caller. */
const OPEN_MS = 15_000

/** The hosts of the runs that a recovery has finished, and of those that it could not finish. */
export interface Recovered {
  readonly finished: readonly string[]
  readonly failed: readonly string[]
}

/**
 * Finishes every unfinished run that began before `begunBefore` and that no instance executes. All run at the same time, so
 * one that cannot finish yet delays no other. The run of another instance is not touched while its lease lives.
 * A run whose beginning is as far ahead has begun before, too: the clock was set back since.
 */
export async function recover(parts: RecoverParts, begunBefore = Number.POSITIVE_INFINITY): Promise<Recovered> {
  const { log, clock } = parts
  const graceMs = clock.now() - begunBefore
  const unfinished = await parts.store.unfinishedRuns()
  // Read after the list: a run may begin while the store answers.
  const latest = clock.now() + graceMs
  const hasJustBegun = ({ startedAt }: Run) => startedAt >= begunBefore && startedAt <= latest
  const left = unfinished.filter(
    (run) => run.holder !== NOBODY && !hasJustBegun(run) && !parts.runs.isUnderWay(run.runId),
  )
  const finish = (run: Run) =>
    parts.runs.taking(run.runId, async () => {
      const taken = await take(run, parts)
      if (!taken) return undefined
      log.warn({ event: 'run_recovered', ...about(run) }, 'Run was interrupted; finishing it')
      return { result: parts.runs.resume({ ...taken, patient: true }) }
    })
  const finished: string[] = []
  const failed: string[] = []
  await Promise.all(
    left.map(async (run) => {
      try {
        const finishing = await finish(run)
        if (!finishing) return
        await finishing.result
        finished.push(run.host)
      } catch (error) {
        failed.push(run.host)
        report(error, run, log)
      }
    }),
  )
  return { finished, failed }
}

/**
 * Takes up the runs that were begun for another instance, if this one reaches the edge, and gives up those that nobody has taken up.
 * Resolves when they are taken, not when they have ended.
 */
export async function takeUp(parts: RecoverParts & { readonly reaches: () => Promise<boolean> }): Promise<void> {
  const { store, runs, log, clock } = parts
  const open = (await store.unfinishedRuns()).filter(
    ({ holder, runId }) => holder === NOBODY && !runs.isUnderWay(runId),
  )
  if (open.length === 0) return
  const reaches = await parts.reaches()
  const start = async (run: Run): Promise<void> => {
    const ageMs = clock.now() - run.startedAt
    // The clocks of two instances differ by less than a lease. Further ahead, the clock was set back since, and the age is unknown.
    const isLate = ageMs > OPEN_MS || -ageMs > OPEN_MS + runs.leaseMs
    if (!isLate && !reaches) return
    const taken = await take(run, parts)
    if (!taken) return
    log.info({ event: 'run_taken_up', ...about(run), given: isLate ? 'up' : 'here' }, SENTENCES[isLate ? 'up' : 'here'])
    const result = isLate ? runs.giveUp(taken, nobodyCame()) : runs.resume({ ...taken, patient: false, isFresh: true })
    result.catch(() => undefined)
  }
  await Promise.all(
    open.map((run) => runs.taking(run.runId, () => start(run)).catch((error: unknown) => report(error, run, log))),
  )
}

const SENTENCES = {
  here: 'Run of an instance that does not reach the edge is executed here.',
  up: 'Run was not taken up by an instance that reaches the edge; it ends without a change.',
}

const nobodyCame = (): Problem =>
  new Problem('unavailable', `No instance that reaches the edge took the run up within ${OPEN_MS / 1000} s.`, {
    retryAfter: 5,
    nextAction: 'Nothing was changed. Get a new capability and send the request again.',
  })

const about = ({ runId, host, action }: Run) => ({ runId, host, action })

/**
 * Takes the leases of a run and adopts it. Undefined while its holder may live, if the run has ended, or if another instance had it since it
 * was read: what that one has done decides how it goes on, so the next look reads it anew.
 */
async function take(run: Run, { store, runs, instance, clock }: RecoverParts): Promise<Taken | undefined> {
  const { runId } = run
  const take = (hosts: readonly string[]) =>
    store.takeLeases(hosts.map(hostLease), runHolder(instance, runId), clock.now(), runs.leaseMs)
  const [first] = await take([run.host])
  if (!first) return undefined
  const further = new Set((await store.exposuresOf(runId)).map(({ host }) => host))
  further.delete(run.host)
  const leases = [first, ...(await take([...further]))]
  const plan = await store.findPlan(run.planId)
  // The holder may still live while one of its leases does.
  if (!plan || leases.length <= further.size || !(await store.adoptRun(run, instance, first.fence))) {
    await store.releaseLeases(leases)
    return undefined
  }
  const entries = await store.readJournal(runId, 0)
  return { plan, run: { ...run, holder: instance, fence: first.fence }, leases, task: taskIn(entries), entries }
}

type Taken = Omit<Left, 'patient'>

function report(error: unknown, { runId, host, action }: Run, log: Log): void {
  const sentence = error instanceof RetryLater ? error.message : 'Recovery of an interrupted run failed.'
  log.error({ event: 'recovery_failed', err: error, runId, host, action }, `${sentence} Retrying automatically.`)
}
