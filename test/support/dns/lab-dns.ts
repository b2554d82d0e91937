import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type Bind, startBind } from '../../../lab/bind.ts'
import { findProgram } from '../../../lab/program.ts'
import { statePaths, tsigKey } from '../../../lab/state.ts'
import type { TestLab } from '../lab/lab.ts'
import { until } from '../until.ts'

/** Changes the zone of the lab directly, with lines for nsupdate. */
export function updateZone({ description }: TestLab, ...lines: string[]): void {
  const { dns, zone } = description
  const { name, algorithm, secretFile } = dns.tsig
  const beginning = [`server ${dns.primary.address} ${dns.primary.port}`, `zone ${zone}`]
  const key = `key ${algorithm}:${name} ${readFileSync(secretFile, 'utf8')}`
  const input = [...beginning, key, ...lines, 'send', ''].join('\n')
  execFileSync(findProgram('nsupdate', 'bind9-dnsutils'), { input, stdio: ['pipe', 'pipe', 'inherit'] })
}

/** Kills both name servers of the lab. */
export async function killDns(lab: TestLab): Promise<void> {
  const { dnsPrimary, dnsSecondary } = lab.description.pids
  for (const pid of [dnsPrimary, dnsSecondary]) if (pid) process.kill(pid, 'SIGKILL')
  await until(
    'both name servers are gone',
    () => !lab.description.pids.dnsPrimary && !lab.description.pids.dnsSecondary,
  )
}

/** Starts new name servers with the existing zones. The caller must stop them. */
export function reviveDns({ description, state }: TestLab): Promise<Bind> {
  const paths = statePaths(state)
  const { primary, secondary } = description.dns
  return startBind({
    folder: paths.bind,
    port: primary.port,
    secondaryPort: secondary.port,
    zones: [{ name: description.zone, records: [] }],
    tsig: tsigKey(paths),
  })
}
