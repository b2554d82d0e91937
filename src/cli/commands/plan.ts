import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { type ExposureOptions, planFor, withExposure } from '../exposure-options.ts'
import { reach, throughApi } from '../reach.ts'

export function addPlan(program: Command): void {
  const command = throughApi(withExposure(program.command('plan <host>')))
    .description('check backend, name, certificate and edge, and show what an apply would do; changes nothing')
    .action(async (host: string, options: ExposureOptions) => {
      const { planLines } = await import('../views/plan.ts')
      const plan = await planFor(await reach(options), host, options)
      const next = `Next: drawbridge apply ${plan.planId}`
      tell({ body: plan, lines: (screen) => [...planLines(plan, screen, Date.now()), '', next] }, options.json)
    })
  withExample(command, 'drawbridge plan hello.example.test --server 25 --port 3000 --health /healthz')
}
