import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { parseDuration } from '../duration.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addExtend(program: Command): void {
  const command = throughApi(program.command('extend <planId>'))
    .description('prolong the life of an exposure, counted from now; never shortens it')
    .requiredOption('--for <duration>', 'such as 30m, 2h or 7d')
    .action(async (planId: string, options: Connected & { for: string }) => {
      const seconds = parseDuration(options.for, '--for')
      const extended = await (await reach(options)).extendPlan(planId, seconds)
      tell({ body: extended, lines: () => [`${planId} lives until ${extended.expiresAt}.`] }, options.json)
    })
  withExample(command, 'drawbridge extend plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 --for 2h')
}
