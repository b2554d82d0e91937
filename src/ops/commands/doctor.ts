import type { Command } from 'commander'
import { type Configured, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { tell } from '../../terminal/told.ts'

export function addDoctor(program: Command): void {
  const command = onThisMachine(program.command('doctor'))
    .description('look at everything that the service stands on, and say what to do about what is wrong')
    .option('--fix', 'do what is safe: make folders of ours, take rights away from others')
    .action(async ({ config, fix, json }: Configured & { fix?: boolean }) => {
      const { doctor } = await import('../doctor/command.ts')
      tell(await doctor(config, fix === true), json)
    })
  withExample(withJson(command), 'drawbridge doctor --config /etc/drawbridge/drawbridge.yaml --fix')
}
