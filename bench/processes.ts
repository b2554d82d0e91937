import { readFileSync } from 'node:fs'
import type { LabDescription } from '../lab/description.ts'
import { masterPid, servingWorkers } from '../src/nginx/process/nginx-workers.ts'

/** User and system time of a process: fields 14 and 15 of `stat` in proc(5), in hundredths of a second. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** In `status` of proc(5), kB means 1,024 bytes. */
export const residentMb = (pid: number): number =>
  (Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / 1e6

export function servicePid({ pids }: LabDescription): number {
  if (pids.service === undefined) throw new Error('The service does not run.')
  return pids.service
}

export function masterOf({ pidFile }: LabDescription['edges']['primary']): number {
  const master = masterPid(pidFile)
  if (master === undefined) throw new Error('The nginx of the lab does not run.')
  return master
}

/** The edges of the lab have one worker each. */
export function workerMb(edge: LabDescription['edges']['primary']): number {
  const [worker] = servingWorkers(masterOf(edge))
  if (worker === undefined) throw new Error('The nginx of the lab has no worker.')
  return residentMb(worker)
}
