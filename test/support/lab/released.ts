import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { masterPid } from '../../../src/nginx/process/nginx-workers.ts'
import { updateZone } from '../dns/lab-dns.ts'
import type { TestLab } from './lab.ts'

/** Takes away what hosts that were accepted or released leave in the zone and on the edges, as their administrator would. */
export function forgetReleased(lab: TestLab, hosts: readonly string[]): void {
  for (const { folder, pidFile } of Object.values(lab.description.edges)) {
    const files = hosts.flatMap((host) => ['conf', 'crt', 'key'].map((ending) => `${host}.${ending}`))
    for (const file of files) rmSync(join(`${folder}-released`, file), { force: true })
    const master = masterPid(pidFile)
    if (master !== undefined) process.kill(master, 'SIGHUP')
  }
  updateZone(lab, ...hosts.flatMap((host) => [`update delete ${host}`, `update delete _drawbridge.${host}`]))
}
