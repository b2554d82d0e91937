import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addPolicy(program: Command): void {
  const command = throughApi(program.command('policy'))
    .description('what is allowed here, and what you may do')
    .action(async (options: Connected) => {
      const { policyLines } = await import('../views/policy.ts')
      const api = await reach(options)
      const policy = await api.policy()
      tell({ body: policy, lines: (screen) => policyLines(policy, api.baseUrl, screen) }, options.json)
    })
  withExample(command, 'drawbridge policy --url http://192.168.45.23:8045')
}
