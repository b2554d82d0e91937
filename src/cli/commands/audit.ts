import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addAudit(program: Command): Command {
  const command = throughApi(program.command('audit'))
    .description('who did what, with which outcome (inside only)')
    .option('--limit <count>', 'at most so many lines', '50')
    .option('--after <line>', 'lines after this one; left out, the newest')
    .action(async ({ limit, after, ...options }: Connected & { limit: string; after?: string }) => {
      const { auditLines } = await import('../views/audit.ts')
      const page = await (await reach(options)).allAudit({ limit, ...(after !== undefined && { after }) })
      tell({ body: page, lines: (screen) => auditLines(page, screen) }, options.json)
    })
  return withExample(command, 'drawbridge audit --limit 20')
}
