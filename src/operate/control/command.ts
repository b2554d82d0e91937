import { Argument, type Command } from 'commander'
import { DUTIES, type DutyName } from '../../runs/duties.ts'
import { type Configured, onThisMachine, withExample, withJson } from '../../terminal/declare.ts'
import { print } from '../../terminal/print.ts'
import { configIn } from '../open-config.ts'

export function addHousekeeping(program: Command): void {
  const command = onThisMachine(program.command('housekeeping'))
    .description('let the running service do its regular work now, and say what it did')
    .addArgument(new Argument('[duty]', 'one duty (default: all of them)').choices(DUTIES))
    .action(async (duty: DutyName | undefined, { config, json }: Configured) => {
      const { askForDuties } = await import('./client.ts')
      const { stateDir } = await configIn(config)
      const duties = await askForDuties(stateDir, duty && [duty])
      const exitCode = duties.every(({ ok }) => ok) ? 0 : 1
      print({ body: { duties }, lines: () => duties.map(({ sentence }) => sentence), exitCode }, json)
    })
  withExample(
    withJson(command),
    'drawbridge housekeeping',
    'drawbridge housekeeping converge --config /etc/drawbridge/drawbridge.yaml',
  )
}
