import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addDown(program: Command): void {
  const command = throughApi(program.command('down <host>'))
    .description('ask, then take a host off the air')
    .option('-y, --yes', 'do not ask')
    .action(async (host: string, options: Connected & { yes?: boolean }) => {
      const { insistOn } = await import('../ask.ts')
      const { removeLive } = await import('../live-run.ts')
      const { planIdOf } = await import('../plan-of.ts')
      const api = await reach(options)
      const planId = await planIdOf(api, host)
      await insistOn(`Take ${host} off the air?`, options.yes)
      await removeLive(api, planId, options.json)
    })
  withExample(command, 'drawbridge down hello.example.test')
}
