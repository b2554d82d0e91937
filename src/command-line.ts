import { Command } from 'commander'
import { leftOvers, resolve } from './apply/resolve.ts'
import { extend } from './cli/extend.ts'
import { type Config, loadConfig } from './config/config.ts'
import { createLog } from './log.ts'
import { type Assembly, assemble, open, secretsOf, VERSION } from './main.ts'
import { auditReport, verifyAudit } from './ops/audit-verify.ts'
import { backupLines, restoreBackup } from './ops/backups.ts'
import { serve } from './ops/serve.ts'

/** `drawbridge`: what acts on this machine takes --config, what goes through the API takes --url. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command('drawbridge')
    .description('Puts a service on the air: DNS name, reverse proxy and certificate together, or not at all.')
    .version(VERSION)
  addServe(program)
  addAudit(program)
  addBackups(program)
  addResolve(program)
  addExtend(program)
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.stderr.write(`drawbridge: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}

interface Configured {
  readonly config: string
}

const onThisMachine = (command: Command): Command =>
  command.requiredOption('--config <file>', 'the configuration, as in drawbridge.example.yaml')

const say = (...lines: string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)

function addServe(program: Command): void {
  onThisMachine(program.command('serve'))
    .description('run the service')
    .option('--check', 'only read the configuration and say whether it is right')
    .action(async ({ config: file, check }: Configured & { check?: boolean }) => {
      const config = loadConfig(file, process.env)
      if (check) say(`${file} is right.`)
      else await serve(await assemble(config, createLog(config.log.level, secretsOf(config))), config)
    })
}

function addAudit(program: Command): void {
  onThisMachine(program.command('audit').command('verify'))
    .description('follow the audit chain and find a changed or missing line')
    .action(async ({ config }: Configured) => {
      const store = await open(loadConfig(config, process.env))
      const verdict = await verifyAudit(store).finally(() => store.close())
      say(auditReport(verdict))
      process.exitCode = verdict.ok ? 0 : 1
    })
}

function addBackups(program: Command): void {
  const backups = program.command('backups').description("the edge's files as they stood before each run")
  onThisMachine(backups.command('list'))
    .description('show them, newest first')
    .action(({ config }: Configured) => withParts(config, async ({ shelf }) => say(...backupLines(await shelf.list()))))
  onThisMachine(backups.command('restore <runId>'))
    .description("put the Primary's files back as they stood before that run; DNS is not touched")
    .action((runId: string, { config }: Configured) =>
      withParts(config, async (parts) => say(await restoreBackup(runId, parts))),
    )
}

function addResolve(program: Command): void {
  onThisMachine(program.command('resolve <planId>'))
    .description('show what a blocked plan left standing, and put it back')
    .option('--show', 'only show')
    .action((planId: string, { config, show }: Configured & { show?: boolean }) =>
      withParts(config, async (parts) => {
        const left = await leftOvers(parts.store, planId)
        say(...left.map(({ step, detail }) => `Left standing: ${step}${detail ? ` (${detail})` : ''}`))
        if (show) return
        const { outcome, run: done } = await resolve(planId, parts)
        const stuck = outcome.kind === 'blocked' ? outcome.rollback.at(-1) : undefined
        if (stuck) throw new Error(`still blocked at ${stuck.name}: ${stuck.detail}`)
        say(`${done.host} is in order again: everything was put back.`)
      }),
    )
}

function addExtend(program: Command): void {
  program
    .command('extend <planId>')
    .description('prolong the life of an exposure, counted from now')
    .requiredOption('--for <duration>', 'such as 30m, 2h or 7d')
    .option('--url <address>', 'the service (or DRAWBRIDGE_URL)', process.env.DRAWBRIDGE_URL ?? 'http://127.0.0.1:8045')
    .action(async (planId: string, options: { url: string; for: string }) => say(await extend(planId, options)))
}

/** The service's own parts, without its ears: for commands that act beside a running service, or without one. */
async function withParts(file: string, work: (parts: Assembly) => Promise<void>): Promise<void> {
  const config: Config = loadConfig(file, process.env)
  const parts = await assemble(config, createLog('silent', secretsOf(config)))
  await work(parts).finally(() => parts.store.close())
}
