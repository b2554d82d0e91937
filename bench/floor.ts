import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { EdgeDescription, LabDescription } from '../lab/description.ts'
import { rfc2136Provider } from '../src/dns/rfc2136.ts'
import { isIdle, isServing, servingWorkers } from '../src/nginx/process/nginx-workers.ts'
import { systemClock } from '../src/primitives/clock.ts'
import { masterOf } from './processes.ts'

const run = promisify(execFile)

/** The minimal work of one apply on one edge: test the configuration, reload until the old workers are gone, one UPDATE. */
export function floorOf({ edges, dns, zone }: LabDescription): (label: string) => Promise<void> {
  const { name, algorithm, secretFile } = dns.tsig
  const secret = readFileSync(secretFile, 'utf8').trim()
  const key = { name, algorithm: algorithm as 'hmac-sha256', secret }
  const provider = rfc2136Provider({ zone, primary: dns.primary, key, clock: systemClock })
  return async (label) => {
    await testAndReload(edges.primary)
    await provider.create([{ name: `${label}.${zone}`, type: 'A', ttl: 60, value: edges.primary.address }])
  }
}

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
