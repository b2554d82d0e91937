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
