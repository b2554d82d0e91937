import { Command, CommanderError } from 'commander'
import { formatOf, withOutput } from '../cli/api-client.ts'
import { addAdopt } from '../cli/commands/adopt.ts'
import { addApply, addDown, addExtend, addPlan, addRemove, addRenew, addUp } from '../cli/commands/expose.ts'
import { addExport, addImport } from '../cli/commands/exposures.ts'
import { addComplete, addCompletion, addMcp } from '../cli/commands/integrate.ts'
import { addMaintenance } from '../cli/commands/maintenance.ts'
import { addMute, addUnmute } from '../cli/commands/mute.ts'
import {
  addAudit,
  addDiagnose,
  addDiff,
  addEvents,
  addHealth,
  addPlans,
  addPolicy,
  addStatus,
  addWait,
  showHost,
} from '../cli/commands/read.ts'
import { addAccept, addRelease, addRepair } from '../cli/commands/repair.ts'
import { EXIT } from '../cli/exit-codes.ts'
import { withHelp } from '../cli/help.ts'
import {
  addAcme,
  addAuditVerify,
  addDoctor,
  addForeignImports,
  addReload,
  addServe,
  addShow,
  addWebhooks,
} from '../operate/commands.ts'
import { addHousekeeping } from '../operate/control/command.ts'
import { addAgent } from '../operate/edge/commands.ts'
import { addInit } from '../operate/init/command.ts'
import { addBackup, addRebuild, addRestore } from '../operate/keep/commands.ts'
import { addBackups, addEdge, addReconcile, addResolve, addWithdraw } from '../operate/recover-commands.ts'
import { addKeys, addStore } from '../operate/store-commands.ts'
import { addVerify } from '../operate/verify-command.ts'
import { VERSION } from '../runtime/version.ts'
import { outliveReader } from '../terminal/closed-output.ts'
import type { Format } from '../terminal/print.ts'
import { edgeMachine, keepMachine, linesHere, machine, siteHere } from './machine/machine.ts'

/**
 * Runs `drawbridge`. Commands that act on this machine take --config, and commands that call the API take --url. Each
 * command loads only what it uses.
 */
export async function run(argv: readonly string[]): Promise<void> {
  const [, , word = ''] = argv
  outliveReader(process, ONLY_LOOKS.has(word))
  const program = commandLine(word)
  let named: string | undefined
  let format: Format | undefined
  program.hook('preAction', (_, begun) => {
    const [first] = begun.registeredArguments
    if (first && NAMED.includes(first.name())) named = begun.args[0]
    format = formatOf(begun.opts())
  })
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage
    else {
      const { endWith } = await import('../cli/ending.ts')
      process.exitCode = await endWith(error, format, named)
    }
  }
}

/** Arguments that name what a command is about. */
const NAMED: readonly string[] = ['host', 'planOrHost', 'planId']

type Add = (program: Command) => void

/** Commands that stand for themselves. */
const EXPOSE: Readonly<Record<string, Add>> = {
  ...{ up: addUp, down: addDown, plan: addPlan, apply: addApply, remove: addRemove, extend: addExtend },
  ...{ repair: addRepair, accept: addAccept, release: addRelease, renew: addRenew },
  ...{ maintenance: addMaintenance, mute: addMute, unmute: addUnmute },
}
const INSPECT: Readonly<Record<string, Add>> = {
  ...{ status: addStatus, health: addHealth, wait: addWait, diagnose: addDiagnose, policy: addPolicy },
  ...{ diff: (program: Command) => addDiff(program, linesHere), plans: addPlans, events: addEvents },
}

const ONLY_LOOKS = new Set([...Object.keys(INSPECT), 'export', 'show', 'audit', 'mcp'])

/** All commands and their options. With the name of a command that stands for itself, only that one: to build all takes longer than most. */
export function commandLine(named = ''): Command {
  const program = new Command('drawbridge')
    .description('Exposes a service: DNS name, proxy and certificate together, or not at all.')
    .version(VERSION)
    // An option belongs to the command behind which it stands: `edge` and the commands below it have different ones.
    .enablePositionalOptions()
    .exitOverride()
    .showHelpAfterError('Run the command with --help to see its arguments and options.')
  const alone = new Map(Object.entries({ ...EXPOSE, ...INSPECT })).get(named)
  if (alone) {
    alone(program)
    return program
  }
  withHelp(program)
  program.commandsGroup('Expose:')
  for (const add of Object.values(EXPOSE)) add(program)
  addAdopt(program, siteHere)
  program.commandsGroup('In files:')
  addExport(program)
  addForeignImports(addImport(program), machine)
  program.commandsGroup('Inspect:')
  for (const add of Object.values(INSPECT)) add(program)
  addShow(program, machine, { withOptions: withOutput, show: showHost })
  const audit = addAudit(program)
  program.commandsGroup('On the server:')
  addInit(program, async () => (await import('./machine/init.ts')).initParts)
  const operating = [addDoctor, addVerify, addBackups, addResolve, addReconcile]
  for (const add of [addServe, addReload, addHousekeeping, ...operating]) add(program, machine)
  for (const add of [addBackup, addRestore, addRebuild]) add(program, keepMachine)
  for (const add of [addStore, addKeys, addAcme, addWebhooks, addWithdraw]) add(program, machine)
  addAuditVerify(audit, machine)
  addAgent(addEdge(program, machine), edgeMachine)
  program.commandsGroup('More:')
  for (const add of [addMcp, addCompletion, addComplete]) add(program)
  return program
}
