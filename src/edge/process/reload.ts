import { setTimeout as sleep } from 'node:timers/promises'
import { EdgeFault } from '../contract.ts'
import { endOfLog, refusalSince } from '../reading/error-log.ts'
import type { EdgeSettings } from '../settings.ts'
import { defaultServerAnswers } from '../visit/ask.ts'
import { isIdle, isServing, masterPid, servingWorkers } from './nginx-workers.ts'

const TIMEOUT_MS = 10_000
const POLL_MS = 1
/** The log is the slower witness, and only needed when it goes wrong. */
const POLLS_PER_LOG_READ = 20

/**
 * nginx accepts a reload and reports success before it knows: only workers that came, went and answer are proof. Those of
 * an earlier reload prove nothing, and are waited for first.
 */
export async function reloadNginx(settings: EdgeSettings): Promise<void> {
  const { pidFile, errorLog } = settings
  const master = masterPid(pidFile)
  if (master === undefined) throw notReloaded(`no nginx runs by ${pidFile}`)
  const giveUpAt = performance.now() + TIMEOUT_MS
  const pause = async (inVain: string) => {
    if (performance.now() > giveUpAt) throw notReloaded(inVain)
    await sleep(POLL_MS)
  }
  const nginx = { master, errorLog, pause }
  const before = await waitUntilIdle(nginx)
  signal(master)
  await waitForNewWorkers(nginx, before)
  if (!(await defaultServerAnswers(settings))) throw notReloaded('its new workers do not answer')
}

interface Nginx {
  readonly master: number
  readonly errorLog: string
  readonly pause: (inVain: string) => Promise<void>
}

interface Before {
  readonly workers: readonly number[]
  readonly logEnd: number
}

/** The same workers before and after it was idle: one that died and was replaced in between would pass for a newcomer. */
async function waitUntilIdle({ master, errorLog, pause }: Nginx): Promise<Before> {
  for (;;) {
    const logEnd = await endOfLog(errorLog)
    const workers = servingWorkers(master)
    if (isIdle(master) && servingWorkers(master).join() === workers.join()) return { workers, logEnd }
    await pause('it was busy with an earlier reload, or its workers keep dying')
  }
}

/** Resolves when other workers serve instead of the former ones, and these are not replacements of such as died. */
async function waitForNewWorkers(
  { master, errorLog, pause }: Nginx,
  { workers: former, logEnd }: Before,
): Promise<void> {
  let isNewGeneration = false
  for (let poll = 1; ; poll += 1) {
    const haveCome = servingWorkers(master).some((pid) => !former.includes(pid))
    if (haveCome && !isNewGeneration && former.every(isServing)) {
      isNewGeneration = true
      quitWorkers(former)
    }
    const haveGone = haveCome && !former.some(isServing)
    if (haveGone && isNewGeneration) return
    const isOver = haveGone && isIdle(master)
    const refusal = (isOver || poll % POLLS_PER_LOG_READ === 0) && (await refusalSince(errorLog, logEnd, master))
    if (refusal) throw notReloaded(`nginx goes on with what it had: ${refusal}`)
    if (isOver) return
    await pause('its former workers were not replaced in time')
  }
}

/**
 * Lets the former workers go now that others serve. nginx would tell them the same, but sleeps a tenth of a second before
 * it does, lest the new ones are not there yet.
 */
function quitWorkers(former: readonly number[]): void {
  for (const pid of former) {
    try {
      process.kill(pid, 'SIGQUIT')
    } catch {
      // Gone, or not ours to signal: nginx sees to it.
    }
  }
}

function signal(master: number): void {
  try {
    process.kill(master, 'SIGHUP')
  } catch {
    throw notReloaded('this service may not signal it')
  }
}

const notReloaded = (why: string): EdgeFault =>
  new EdgeFault('not_reloaded', `It is not proven that nginx runs its new configuration: ${why}.`)
