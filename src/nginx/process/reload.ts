import { EdgeFault } from '../../edge/contract/fault.ts'
import { edgeAnswers } from '../../edge/visit/ask.ts'
import { endOfLog, refusalSince } from '../../estate/reading/error-log.ts'
import type { EdgeSettings } from '../../estate/settings.ts'
import { FairClock } from '../../primitives/fair-clock.ts'
import { isIdle, isServing, masterPid, servingWorkers } from './nginx-workers.ts'

const TIMEOUT_MS = 10_000
const POLL_MS = 1
/** Reading the log is slow, and only needed when the reload fails. */
const POLLS_PER_LOG_READ = 20

/**
 * nginx accepts a reload signal before it knows whether the configuration loads. The proof of a reload is that new workers
 * answer and the former workers are gone. An earlier reload must have ended before, because its workers would look the same.
 * When `signal` aborts, nginx may or may not reload.
 */
export async function reloadNginx(settings: EdgeSettings, signal?: AbortSignal): Promise<void> {
  await replaceWorkers(settings, signal)
  if (!(await edgeAnswers(settings, signal))) throw notReloaded('The new workers do not answer.')
}

/** Like `reloadNginx`, but does not ask our own servers, which may be gone afterwards. */
export async function replaceWorkers(
  { pidFile, errorLog, clock }: Pick<EdgeSettings, 'pidFile' | 'errorLog' | 'clock'>,
  signal?: AbortSignal,
): Promise<void> {
  const master = masterPid(pidFile)
  if (master === undefined) throw notReloaded(`The process in ${pidFile} is not a running nginx. Start nginx.`)
  // Do not count the time in which this process was late.
  using fair = new FairClock(clock)
  let isOver = false
  fair.limit(TIMEOUT_MS, () => {
    isOver = true
  })
  const pause = async (reason: string) => {
    signal?.throwIfAborted()
    if (isOver) throw notReloaded(reason)
    await clock.sleep(POLL_MS)
  }
  const nginx = { master, errorLog, pause }
  const before = await waitUntilIdle(nginx)
  signal?.throwIfAborted()
  requestReload(master)
  await waitForNewWorkers(nginx, before)
}

interface Nginx {
  readonly master: number
  readonly errorLog: string
  /** Rejects with `reason` when the time is up, and with the signal's reason when the signal has aborted. */
  readonly pause: (reason: string) => Promise<void>
}

interface Before {
  readonly workers: readonly number[]
  readonly logEnd: number
}

/** Compares the workers before and after the idle check: a worker that died and was replaced in between would look new. */
async function waitUntilIdle({ master, errorLog, pause }: Nginx): Promise<Before> {
  for (;;) {
    const logEnd = await endOfLog(errorLog)
    const workers = servingWorkers(master)
    if (isIdle(master) && servingWorkers(master).join() === workers.join()) return { workers, logEnd }
    await pause('An earlier reload did not end in time, or workers keep dying.')
  }
}

/** Resolves when new workers serve instead of the former ones. A worker that only replaces a dead one does not count. */
async function waitForNewWorkers(
  { master, errorLog, pause }: Nginx,
  { workers: former, logEnd }: Before,
): Promise<void> {
  let isNewGeneration = false
  for (let poll = 1; ; poll += 1) {
    const haveCome = servingWorkers(master, former).length > 0
    if (haveCome && !isNewGeneration && former.every(isServing)) {
      isNewGeneration = true
      quitWorkers(former)
    }
    const haveGone = haveCome && !former.some(isServing)
    if (haveGone && isNewGeneration) return
    const isOver = haveGone && isIdle(master)
    const refusal = (isOver || poll % POLLS_PER_LOG_READ === 0) && (await refusalSince(errorLog, logEnd, master))
    if (refusal) throw notReloaded(`nginx rejected the new configuration and keeps the former one: ${refusal}.`)
    if (isOver) return
    await pause('The former workers were not replaced in time.')
  }
}

/**
 * Tells the former workers to shut down as soon as new ones serve. nginx does the same, but waits 100 ms first so that the new
 * workers are ready.
 */
function quitWorkers(former: readonly number[]): void {
  for (const pid of former) {
    try {
      process.kill(pid, 'SIGQUIT')
    } catch {
      // The worker has ended, or this process may not signal it: nginx shuts it down.
    }
  }
}

function requestReload(master: number): void {
  try {
    process.kill(master, 'SIGHUP')
  } catch {
    throw notReloaded('Drawbridge has no permission to signal nginx.')
  }
}

const notReloaded = (reason: string): EdgeFault =>
  new EdgeFault('not_reloaded', `The reload of nginx is not confirmed. ${reason}`)
