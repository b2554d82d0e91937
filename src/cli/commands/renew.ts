import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'
import { type Connected, reach, throughApi } from '../reach.ts'

export function addRenew(program: Command): void {
  const command = throughApi(program.command('renew <planOrHost>'))
    .description("renew a host's certificate now, due or not, within the order budget")
    .action(async (planOrHost: string, options: Connected) => {
      const { planIdOf } = await import('../plan-of.ts')
      const api = await reach(options)
      const renewed = await api.renewPlan(await planIdOf(api, planOrHost))
      const { names, notAfter, source } = renewed.certificate
      const how = source === 'issued' ? 'The authority issued it just now' : 'It was in the folders'
      const lines = () => [
        `${renewed.host} is served with a certificate for ${names.join(', ')}, valid until ${notAfter}. ${how}.`,
        ...renewed.warnings,
      ]
      tell({ body: renewed, lines }, options.json)
    })
  withExample(command, 'drawbridge renew hello.example.test')
}
