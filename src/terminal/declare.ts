import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { printableText } from './screen.ts'
import { UsageError } from './usage-error.ts'

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
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-C and Ctrl-D leave the question. A closed input never answers it.
  const left = new Promise<string>((resolve) => {
    terminal.once('SIGINT', () => terminal.close())
    terminal.once('close', () => resolve(LEFT))
  })
  const answer = await Promise.race([terminal.question(`${printableText(question)} [y/N] `), left]).finally(() =>
    terminal.close(),
  )
  if (answer === LEFT) process.stderr.write('\n')
  if (!/^y(es)?$/i.test(answer.trim())) throw new Declined('Nothing was changed.')
}

/** No person can type it. */
const LEFT = '\u0000'

/** The person answered no. */
export class Declined extends Error {}
