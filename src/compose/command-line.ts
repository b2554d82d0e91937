import { Command, CommanderError } from 'commander'
import { addApply, addDown, addExtend, addPlan, addRemove, addRenew, addUp } from '../cli/commands/expose.ts'
import { addCompletion, addMcp } from '../cli/commands/integrate.ts'
import { addAudit, addDiagnose, addHealth, addPlans, addPolicy, addStatus } from '../cli/commands/read.ts'
import { EXIT } from '../cli/exit-codes.ts'
import {
  addAcme,
  addAuditVerify,
  addBackups,
  addDoctor,
  addResolve,
  addServe,
  addWebhooks,
} from '../operate/commands.ts'
import { VERSION } from '../runtime/version.ts'
import { machine } from './machine.ts'

/** `drawbridge`: what acts on this machine takes --config, what goes through the API takes --url. Both load only what they use. */
export async function run(argv: readonly string[]): Promise<void> {
  // Who reads our lines may stop reading: `drawbridge status | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.notWell),
  )
  try {
    await commandLine().parseAsync([...argv])
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
    else {
      const { endWith } = await import('../cli/ending.ts')
      process.exitCode = endWith(error, argv.includes('--json'))
    }
  }
}

/** Everything there is to say, declared. */
export function commandLine(): Command {
  const program = new Command('drawbridge')
    .description('Puts a service on the air: DNS name, reverse proxy and certificate together, or not at all.')
    .version(VERSION)
    .exitOverride()
  program.commandsGroup('Expose:')
  for (const add of [addUp, addDown, addPlan, addApply, addRemove, addExtend, addRenew]) add(program)
  program.commandsGroup('Look:')
  for (const add of [addStatus, addHealth, addDiagnose, addPolicy, addPlans]) add(program)
  const audit = addAudit(program)
  program.commandsGroup('On the server:')
  for (const add of [addServe, addDoctor, addBackups, addResolve, addAcme, addWebhooks]) add(program, machine)
  addAuditVerify(audit, machine)
  program.commandsGroup('More:')
  for (const add of [addMcp, addCompletion]) add(program)
  return program
}
