import { readFileSync } from 'node:fs'

/** The title of a worker that accepts connections. A worker that is shutting down has a longer title. */
const SERVING = 'nginx: worker process'
const MASTER = 'nginx: master process'

/** The process id in the file, if that process is an nginx master. */
export function masterPid(pidFile: string): number | undefined {
  const pid = Number(textOf(pidFile))
  return Number.isSafeInteger(pid) && pid > 1 && titleOf(pid).startsWith(MASTER) ? pid : undefined
}

/** `besides`: workers that are known and are not looked at. */
export const servingWorkers = (master: number, besides: readonly number[] = []): number[] =>
  childrenOf(master).filter((pid) => !besides.includes(pid) && isServing(pid))

/**
 * Whether no reload is running or pending, and no worker is starting or ending. The master blocks signals while it works and
 * blocks none while it waits; /proc shows which. A signal that is just being delivered is neither pending nor blocked, but then
 * the master does not sleep. A starting worker has the master's title. A worker that has died has an empty title until the
 * master notices.
 */
export const isIdle = (master: number): boolean => {
  const status = textOf(`/proc/${master}/status`)
  const titles = childrenOf(master).map(titleOf)
  return WAITING.every((line) => line.test(status)) && !titles.some((title) => title === '' || title.startsWith(MASTER))
}

const WAITING = [/^State:\s+S/m, /^ShdPnd:\s+0+$/m, /^SigBlk:\s+0+$/m]

export const isServing = (pid: number): boolean => titleOf(pid) === SERVING

const childrenOf = (master: number): number[] =>
  textOf(`/proc/${master}/task/${master}/children`).split(' ').filter(Boolean).map(Number)

/** Empty when there is no such process. */
const titleOf = (pid: number): string => textOf(`/proc/${pid}/cmdline`).replace(/[\0 ]+$/, '')

/** Synchronous: reading /proc is faster than the thread pool. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
