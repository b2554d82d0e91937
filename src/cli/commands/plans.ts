import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addPlans(program: Command): void {
  const command = throughApi(program.command('plans'))
    .description('recent plans, newest first (inside only)')
    .option('--limit <count>', 'at most so many', '50')
    .option('--cursor <place>', 'go on from where the last page ended')
    .action(async ({ limit, cursor, ...options }: Connected & { limit: string; cursor?: string }) => {
      const { plansLines } = await import('../views/plans.ts')
      const page = await (await reach(options)).listPlans({ limit, ...(cursor !== undefined && { cursor }) })
      tell({ body: page, lines: (screen) => plansLines(page, screen) }, options.json)
    })
  withExample(command, 'drawbridge plans --limit 10')
}
