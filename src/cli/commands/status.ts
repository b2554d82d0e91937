import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

interface StatusOptions extends Connected {
  readonly search?: string
  readonly badge?: string
  readonly server?: string
  readonly limit?: string
  readonly watch?: boolean
}

export function addStatus(program: Command): void {
  const command = throughApi(program.command('status'))
    .description('every host and how it does')
    .option('--search <text>', 'only hosts with this in their name')
    .option('--badge <badges>', 'only these states, such as "DOWN,HTTP 502"')
    .option('--server <id>', 'only hosts on this server')
    .option('--limit <count>', 'show at most so many; left out, all')
    .option('--watch', 'stay, and show changes as they come')
    .action(async ({ url, json, watch, ...query }: StatusOptions) => {
      const { statusLines } = await import('../views/status.ts')
      const api = await reach(url === undefined ? {} : { url })
      if (watch) {
        const { watchHosts } = await import('../watch.ts')
        return watchHosts(api, query, json === true)
      }
      const hosts = await api.allHosts(query)
      tell({ body: hosts, lines: (screen) => statusLines(hosts, screen) }, json)
    })
  withExample(command, 'drawbridge status --badge "DOWN,HTTP 502"', 'drawbridge status --watch')
}
