import { Command, CommanderError } from 'commander'
import { addExtend } from './cli/commands/extend.ts'
import { addAcme } from './ops/commands/acme.ts'
import { addAuditVerify } from './ops/commands/audit-verify.ts'
import { addBackups } from './ops/commands/backups.ts'
import { addDoctor } from './ops/commands/doctor.ts'
import { addResolve } from './ops/commands/resolve.ts'
import { addServe } from './ops/commands/serve.ts'
import { VERSION } from './version.ts'

const NOT_UNDERSTOOD = 2

/** `drawbridge`: what acts on this machine takes --config, what goes through the API takes --url. */
export async function run(argv: readonly string[]): Promise<void> {
  // Who reads our lines may stop reading: `drawbridge status | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  const program = new Command('drawbridge')
    .description('Puts a service on the air: DNS name, reverse proxy and certificate together, or not at all.')
    .version(VERSION)
    .exitOverride()
  addServe(program)
  addDoctor(program)
  addAuditVerify(program.command('audit').description('who did what'))
  addBackups(program)
  addResolve(program)
  addAcme(program)
  addExtend(program)
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : NOT_UNDERSTOOD
    else {
      process.stderr.write(`drawbridge: ${error instanceof Error ? error.message : String(error)}\n`)
      process.exitCode = 1
    }
  }
}
