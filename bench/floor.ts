import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { EdgeDescription, LabDescription } from '../lab/description.ts'
import { isIdle, isServing, servingWorkers } from '../src/nginx/process/nginx-workers.ts'
import { masterOf } from './processes.ts'

const run = promisify(execFile)

export async function testAndReload(edge: EdgeDescription): Promise<void> {
  await run('nginx', ['-t', '-q', '-p', edge.prefix, '-c', edge.config])
  await reload(edge)
}

/** Resolves when the old workers take no more connections. */
async function reload(edge: EdgeDescription): Promise<void> {
  const master = masterOf(edge)
  const former = servingWorkers(master)
  process.kill(master, 'SIGHUP')
  while (former.some(isServing)) await sleep(1)
}

/** nginx works on a reload for a while after it has replaced its workers. That time must not count for the next sample. */
export async function atRest({ edges }: LabDescription): Promise<void> {
  const masters = [edges.primary, edges.secondary].map(masterOf)
  while (!masters.every(isIdle)) await sleep(1)
}
