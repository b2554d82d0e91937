import { readFileSync } from 'node:fs'
import { type Bind, startBind } from '../../../lab/bind.ts'
import { statePaths, tsigKey } from '../../../lab/state.ts'
import type { TestLab } from '../lab/lab.ts'
import { until } from '../until.ts'
import { nsupdate } from './zone-server.ts'

/** Changes the zone of the lab directly, with lines for nsupdate. */
export function updateZone({ description }: TestLab, ...lines: string[]): void {
  const { dns, zone } = description
  nsupdate(dns.primary, zone, { ...dns.tsig, secret: readFileSync(dns.tsig.secretFile, 'utf8') }, lines)
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
