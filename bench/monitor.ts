import { setTimeout as sleep } from 'node:timers/promises'
import type { LabDescription } from '../lab/description.ts'
import type { Hosts } from '../src/client/bodies.ts'
import { allHosts } from '../src/client/pages.ts'
import { EVERY_SECONDS, onKeptLab } from './bench-lab.ts'
import { Caller } from './caller.ts'
import { cpuSeconds, residentMb, servicePid } from './processes.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'

const MOST_PERCENT = 50
const MOST_MB = 200

/** The cost of monitoring many exposures with TLS on a real nginx, each in DNS and in the store. */
export function benchMonitor({ monitor: size }: Sizes): Promise<Row[]> {
  return onKeptLab({ hosts: size.hosts, tls: 'wildcard' }, async ({ description: lab }) => {
    await sleep(size.warmUpMs)
    const { percent, mostMb } = await monitorCost(lab, size.measureMs)
    const { running, late } = await seen(lab)
    const where = `${size.hosts} hosts every ${EVERY_SECONDS} s`
    return [
      row(`${where}: share of one core`, '%', percent, { most: MOST_PERCENT }),
      row(`${where}: memory of the service at most`, 'MB', mostMb, { most: MOST_MB }),
      row(`${where}: RUNNING`, 'count', running, { least: size.hosts }),
      row(`${where}: checked too long ago`, 'count', late, { most: 0 }),
    ]
  })
}

/** Of the service, over a time in which it does nothing but monitor. */
export async function monitorCost(lab: LabDescription, forMs: number): Promise<{ percent: number; mostMb: number }> {
  const pid = servicePid(lab)
  const [before, started] = [cpuSeconds(pid), performance.now()]
  let mostMb = 0
  while (performance.now() - started < forMs) {
    await sleep(1_000)
    mostMb = Math.max(mostMb, residentMb(pid))
  }
  const seconds = (performance.now() - started) / 1000
  return { percent: (100 * (cpuSeconds(pid) - before)) / seconds, mostMb }
}

async function seen(lab: LabDescription): Promise<{ running: number; late: number }> {
  const caller = new Caller(lab)
  const { counts, hosts, at } = await allHosts(
    (query) => caller.get<Hosts>(`/api/hosts?${new URLSearchParams(query)}`),
    {},
  )
  caller.close()
  const isLate = (checkedAt: string | null) =>
    checkedAt === null || Date.parse(at) - Date.parse(checkedAt) > 1.5 * EVERY_SECONDS * 1000
  return { running: counts.RUNNING ?? 0, late: hosts.filter(({ checkedAt }) => isLate(checkedAt)).length }
}
