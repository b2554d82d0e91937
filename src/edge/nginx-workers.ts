import { readFileSync } from 'node:fs'

/** nginx's own word for a worker that serves; one that only finishes what it has says so behind it. */
const SERVING = 'nginx: worker process'
const MASTER = 'nginx: master process'

/** The id in the file, if that process is an nginx master. */
export function masterIn(pidFile: string): number | undefined {
  const pid = Number(textOf(pidFile))
  return Number.isSafeInteger(pid) && pid > 1 && titleOf(pid).startsWith(MASTER) ? pid : undefined
}

export const servingWorkers = (master: number): number[] =>
  textOf(`/proc/${master}/task/${master}/children`).split(' ').filter(Boolean).map(Number).filter(isServing)

export const isServing = (pid: number): boolean => titleOf(pid) === SERVING

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
