import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addRemove(program: Command): void {
  const command = throughApi(program.command('remove <planOrHost>'))
    .description('take what a plan put on the air off it again: DNS first, then the proxy')
    .action(async (planOrHost: string, options: Connected) => {
      const { removeLive } = await import('../live-run.ts')
      const { planIdOf } = await import('../plan-of.ts')
      const api = await reach(options)
      await removeLive(api, await planIdOf(api, planOrHost), options.json)
    })
  withExample(command, 'drawbridge remove hello.example.test')
}
