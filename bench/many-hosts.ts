import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LabDescription } from '../lab/description.ts'

/** Adds hosts to the configuration of the edge, as an administrator would. */
export function addHosts({ edges: { primary } }: LabDescription, count: number): void {
  const { config, address, http, pidFile } = primary
  const block = (at: number) => `server { listen ${address}:${http}; server_name h${at}.lab.test; return 204; }`
  const blocks = Array.from({ length: count }, (_, at) => block(at)).join('\n')
  const names = 'server_names_hash_max_size 65536;'
  const text = readFileSync(config, 'utf8')
  writeFileSync(
    config,
    text.replace('  include drawbridge', (include) => `${names}\n${blocks}\n${include}`),
  )
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGHUP')
}

/** Waits until the monitor has found and checked every host. */
export async function hostsKnown({ inside }: LabDescription, count: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${inside}/api/hosts?limit=1`)
    if (!answer.ok) {
      process.stdout.write(`The service answered HTTP ${answer.status}; retrying.\n`)
      await sleep(2_000)
      continue
    }
    const { total, counts } = (await answer.json()) as { total: number; counts: Record<string, number> }
    const unchecked = counts.PENDING ?? 0
    process.stdout.write(`${total} hosts known, ${unchecked} not checked yet\n`)
    if (total >= count && unchecked === 0) return
    await sleep(2_000)
  }
}
