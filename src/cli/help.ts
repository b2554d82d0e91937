import { type Command, Help } from 'commander'
import { UsageError, withExample } from '../terminal/declare.ts'

/** What people do every day, with an example of each. One screen of 80 columns and 24 lines. */
const EVERYDAY = [
  ['status', 'how every host does, the worst first; with a HOST, all of one', 'status'],
  ['up', 'expose a host, or change it: plan, show, ask, apply', 'up app.example.com --server 25 --port 3000'],
  ['diagnose', 'why a host is red, and the command that helps', 'diagnose app.example.com'],
  ['diff', 'what was changed by hand', 'diff app.example.com'],
  ['repair', 'write it again as it was applied', 'repair app.example.com'],
  ['extend', 'a later end', 'extend app.example.com --for 2h'],
  ['mute', 'no alerts about a host for a while', 'mute app.example.com --for 2h'],
  ['down', 'remove a host: name, proxy entry and all', 'down app.example.com'],
] as const

const everyday = (description: string): string =>
  [
    description,
    '',
    ...EVERYDAY.flatMap(([name, what, example]) => [
      `  ${name.padEnd(10)}${what}`,
      `${' '.repeat(12)}$ drawbridge ${example}`,
    ]),
    '',
    'All commands: drawbridge help --all. One command: drawbridge help COMMAND.',
    'Commands that change something ask first; --yes answers.',
    '',
  ].join('\n')

/** The program shows everyday commands; `help --all` shows every command in its group. */
export function withHelp(program: Command): Command {
  let all = false
  program.helpCommand(false).configureHelp({
    formatHelp: (command, helper) =>
      command === program && !all
        ? everyday(program.description())
        : Help.prototype.formatHelp.call(helper, command, helper),
  })
  const command = program
    .command('help [command...]', { hidden: true })
    .description('show the everyday commands, every command, or one')
    .option('--all', 'every command, in groups')
    .action((path: readonly string[], options: { all?: boolean }) => {
      all = options.all === true
      path.reduce((above, name) => below(above, name), program).outputHelp()
    })
  withExample(command, 'drawbridge help --all', 'drawbridge help backups restore')
  return program
}

function below(above: Command, name: string): Command {
  const found = above.commands.find((command) => command.name() === name)
  if (!found)
    throw new UsageError(`There is no command ${JSON.stringify(name)}. drawbridge help --all lists every command.`)
  return found
}
