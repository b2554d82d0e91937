import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addApply(program: Command): void {
  const command = throughApi(program.command('apply <planId>'))
    .description('make a plan real: certificate, proxy and DNS together, or everything is put back')
    .action(async (planId: string, options: Connected) => {
      const { applyLive } = await import('../live-run.ts')
      await applyLive(await reach(options), planId, options.json)
    })
  withExample(command, 'drawbridge apply plan_4c7p0wq9d2f6h8k1m3n5r7t9v0')
}
