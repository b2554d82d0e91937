import { Command, CommanderError } from 'commander'
import { addApply } from './cli/commands/apply.ts'
import { addAudit } from './cli/commands/audit.ts'
import { addCompletion } from './cli/commands/completion.ts'
import { addDiagnose } from './cli/commands/diagnose.ts'
import { addDown } from './cli/commands/down.ts'
import { addExtend } from './cli/commands/extend.ts'
import { addHealth } from './cli/commands/health.ts'
import { addMcp } from './cli/commands/mcp.ts'
import { addPlan } from './cli/commands/plan.ts'
import { addPlans } from './cli/commands/plans.ts'
import { addPolicy } from './cli/commands/policy.ts'
import { addRemove } from './cli/commands/remove.ts'
import { addRenew } from './cli/commands/renew.ts'
import { addStatus } from './cli/commands/status.ts'
import { addUp } from './cli/commands/up.ts'
import { EXIT } from './cli/exit-codes.ts'
import { addAcme } from './ops/commands/acme.ts'
import { addAuditVerify } from './ops/commands/audit-verify.ts'
import { addBackups } from './ops/commands/backups.ts'
import { addDoctor } from './ops/commands/doctor.ts'
import { addResolve } from './ops/commands/resolve.ts'
import { addServe } from './ops/commands/serve.ts'
import { addWebhooks } from './ops/commands/webhooks.ts'
import { VERSION } from './version.ts'

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
      const { endWith } = await import('./cli/ending.ts')
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
  for (const add of [addServe, addDoctor, addBackups, addResolve, addAcme, addWebhooks]) add(program)
  addAuditVerify(audit)
  program.commandsGroup('More:')
  for (const add of [addMcp, addCompletion]) add(program)
  return program
}
