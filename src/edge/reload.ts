import { setTimeout as sleep } from 'node:timers/promises'
import { defaultServerAnswers } from './ask.ts'
import { EdgeFault } from './contract.ts'
import { endOfLog, refusalSince } from './error-log.ts'
import { isServing, masterIn, servingWorkers } from './nginx-workers.ts'
import type { EdgeSettings } from './settings.ts'

const PATIENCE_MS = 10_000
const POLL_MS = 2

/** nginx accepts a reload and reports success before it knows: only workers that came, went and answer are proof. */
export async function reloadNginx(settings: EdgeSettings): Promise<void> {
  const { pidFile, errorLog } = settings
  const master = await masterIn(pidFile)
  if (master === undefined) throw notReloaded(`no nginx runs by ${pidFile}`)
  const logEnd = await endOfLog(errorLog)
  const former = await servingWorkers(master)
  signal(master)
  const giveUpAt = performance.now() + PATIENCE_MS
  while (!(await isReplaced(former, master))) {
    const refusal = await refusalSince(errorLog, logEnd, master)
    if (refusal) throw notReloaded(`nginx goes on with what it had: ${refusal}`)
    if (performance.now() > giveUpAt) throw notReloaded('its former workers were not replaced in time')
    await sleep(POLL_MS)
  }
  if (!(await defaultServerAnswers(settings))) throw notReloaded('its new workers do not answer')
}

async function isReplaced(former: readonly number[], master: number): Promise<boolean> {
  if ((await Promise.all(former.map(isServing))).includes(true)) return false
  return (await servingWorkers(master)).some((pid) => !former.includes(pid))
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
