import { readFile } from 'node:fs/promises'

/** nginx's own word for a worker that serves; one that only finishes what it has says so behind it. */
const SERVING = 'nginx: worker process'
const MASTER = 'nginx: master process'

/** The id in the file, if that process is an nginx master. */
export async function masterIn(pidFile: string): Promise<number | undefined> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''))
  return Number.isSafeInteger(pid) && pid > 1 && (await titleOf(pid)).startsWith(MASTER) ? pid : undefined
}

export async function servingWorkers(master: number): Promise<number[]> {
  const children = await readFile(`/proc/${master}/task/${master}/children`, 'utf8').catch(() => '')
  const pids = children.split(' ').filter(Boolean).map(Number)
  const serving = await Promise.all(pids.map(isServing))
  return pids.filter((_, index) => serving[index])
}

export const isServing = async (pid: number): Promise<boolean> => (await titleOf(pid)) === SERVING

/** Empty when there is no such process. */
const titleOf = async (pid: number): Promise<string> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replace(/[\0 ]+$/, '')
