import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'

/** What every command on this machine takes. */
export interface Configured {
  readonly config: string
  readonly json?: boolean
}

export const onThisMachine = (command: Command): Command =>
  command.requiredOption('--config <file>', 'the configuration, as in drawbridge.example.yaml')

export const withJson = (command: Command): Command => command.option('--json', 'print one JSON document')

/** Help ends with how it is really used. */
export const withExample = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExample:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)

/** Goes on only when a person says yes. Where nobody sits, `--yes` must have said it. */
export async function insistOn(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new UsageError('nobody is there to be asked: say --yes')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new Declined('Nothing was changed.')
}

/** The command line itself is wrong: what was asked makes no sense, or says too little. */
export class UsageError extends Error {}

/** The person said no. */
export class Declined extends Error {}
