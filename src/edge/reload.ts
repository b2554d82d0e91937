import { setTimeout as sleep } from 'node:timers/promises'
import { defaultServerAnswers } from './ask.ts'
import { EdgeFault } from './contract.ts'
import { endOfLog, refusalSince } from './error-log.ts'
import { isServing, masterIn, servingWorkers } from './nginx-workers.ts'
import type { EdgeSettings } from './settings.ts'

const PATIENCE_MS = 10_000
const POLL_MS = 1
/** The log is the slower witness, and only needed when it goes wrong. */
const POLLS_BETWEEN_LOOKS = 20

/** nginx accepts a reload and reports success before it knows: only workers that came, went and answer are proof. */
export async function reloadNginx(settings: EdgeSettings, come: () => void = () => undefined): Promise<void> {
  const { pidFile, errorLog } = settings
  const master = masterIn(pidFile)
  if (master === undefined) throw notReloaded(`no nginx runs by ${pidFile}`)
  const logEnd = await endOfLog(errorLog)
  const former = servingWorkers(master)
  signal(master)
  const giveUpAt = performance.now() + PATIENCE_MS
  let haveCome = false
  for (let poll = 1; ; poll += 1) {
    if (!haveCome && servingWorkers(master).some((pid) => !former.includes(pid))) {
      haveCome = true
      come()
    }
    if (haveCome && !former.some(isServing)) break
    const refusal = poll % POLLS_BETWEEN_LOOKS === 0 && (await refusalSince(errorLog, logEnd, master))
    if (refusal) throw notReloaded(`nginx goes on with what it had: ${refusal}`)
    if (performance.now() > giveUpAt) throw notReloaded('its former workers were not replaced in time')
    await sleep(POLL_MS)
  }
  if (!(await defaultServerAnswers(settings))) throw notReloaded('its new workers do not answer')
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
