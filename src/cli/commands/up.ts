import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/told.ts'
import { type ExposureOptions, planFor, withExposure } from '../exposure-options.ts'
import { reach, throughApi } from '../reach.ts'

export function addUp(program: Command): void {
  const command = throughApi(withExposure(program.command('up <host>')))
    .description('plan, show, ask, apply')
    .option('-y, --yes', 'do not ask')
    .action(async (host: string, options: ExposureOptions & { yes?: boolean }) => {
      const { planLines } = await import('../views/plan.ts')
      const { insistOn } = await import('../ask.ts')
      const { applyLive } = await import('../live-run.ts')
      const api = await reach(options)
      const plan = await planFor(api, host, options)
      const screen = standardOutput()
      if (!options.json) screen.say(...planLines(plan, screen, Date.now()), '')
      await insistOn(`Put ${plan.host} on the air?`, options.yes)
      await applyLive(api, plan.planId, options.json)
    })
  withExample(command, 'drawbridge up hello.example.test --server 25 --port 3000 --expires-in 2h')
}
