import { readFileSync } from 'node:fs'

/** nginx's own word for a worker that serves; one that only finishes what it has says so behind it. */
const SERVING = 'nginx: worker process'
const MASTER = 'nginx: master process'

/** The id in the file, if that process is an nginx master. */
export function masterPid(pidFile: string): number | undefined {
  const pid = Number(textOf(pidFile))
  return Number.isSafeInteger(pid) && pid > 1 && titleOf(pid).startsWith(MASTER) ? pid : undefined
}

export const servingWorkers = (master: number): number[] => childrenOf(master).filter(isServing)

/**
 * Whether no reload is under way or asked for, and no worker on its way in or out. nginx's master blocks its signals while
 * it works and none while it waits, which the kernel tells. A worker bears the master's title until it serves, and none
 * when it has died and the master does not know yet.
 */
export const isIdle = (master: number): boolean => {
  const status = textOf(`/proc/${master}/status`)
  const titles = childrenOf(master).map(titleOf)
  return WAITING.every((line) => line.test(status)) && !titles.some((title) => title === '' || title.startsWith(MASTER))
}

const WAITING = [/^ShdPnd:\s+0+$/m, /^SigBlk:\s+0+$/m]

export const isServing = (pid: number): boolean => titleOf(pid) === SERVING

const childrenOf = (master: number): number[] =>
  textOf(`/proc/${master}/task/${master}/children`).split(' ').filter(Boolean).map(Number)

/** Empty when there is no such process. */
const titleOf = (pid: number): string => textOf(`/proc/${pid}/cmdline`).replace(/[\0 ]+$/, '')

/** Read at once: the kernel's answer takes less time than handing the question to somebody else. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
