import type { Command } from 'commander'
import { ask, Declined } from './question.ts'
import { UsageError } from './usage-error.ts'

export { Declined } from './question.ts'
export { UsageError } from './usage-error.ts'

/** The options of every command that acts on this machine. */
export interface Configured {
  readonly config: string
  readonly json?: boolean
}

/** The configuration of an installed service. */
const INSTALLED = '/etc/drawbridge/drawbridge.yaml'

/** DRAWBRIDGE_CONFIG names it at another place. */
export const serviceFile = (): string => process.env.DRAWBRIDGE_CONFIG || INSTALLED

export const onThisMachine = (command: Command, file: string = serviceFile()): Command =>
  command.option('--config <file>', 'the configuration file, as in drawbridge.example.yaml', file)

export const withJson = (command: Command): Command => command.option('--json', 'print one JSON document')

export const withExample = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExample:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)

/** `action` completes the sentence "pass --yes to …". */
interface Confirmation {
  readonly question: string
  readonly action: string
  readonly yes: boolean | undefined
}

/** Resolves when a person confirms. Without a terminal nobody can be asked, so `--yes` is required there. */
export async function confirm({ question, action, yes }: Confirmation): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new UsageError(`Not a terminal: pass --yes to ${action} without a prompt.`)
  // A line that was typed before is not about this question.
  const answer = await ask(`${question} [y/N] `, { takesEarly: false })
  if (!/^y(es)?$/i.test(answer.trim())) throw new Declined('Nothing was changed.')
}
