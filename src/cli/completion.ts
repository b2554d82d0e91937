import type { Command } from 'commander'

/** One command: its path below `drawbridge`, its description, and the words that may follow it. */
interface Entry {
  readonly path: readonly string[]
  readonly description: string
  readonly options: readonly { readonly flag: string; readonly description: string; readonly takesFile: boolean }[]
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly choices: readonly string[]
  /** What the service is asked for when the argument of the command is completed. */
  readonly asks: readonly ('hosts' | 'plans')[]
}

const ASKS: Readonly<Record<string, Entry['asks']>> = {
  host: ['hosts'],
  planId: ['plans'],
  planOrHost: ['hosts', 'plans'],
}

/** Commands whose host is a new one. */
const NEW_HOST: readonly string[] = ['plan']

/** Reads the declared commands, so completion always matches them. */
export function vocabularyOf(command: Command, path: readonly string[] = []): Entry[] {
  const children = command.commands.filter((child) => child.name() !== 'help' && child.name() !== 'complete')
  const entry: Entry = {
    path,
    description: command.description(),
    options: [...command.options.map(described), { flag: '--help', description: 'display help', takesFile: false }],
    commands: children.map((child) => ({ name: child.name(), description: child.description() })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    asks: NEW_HOST.includes(command.name())
      ? []
      : command.registeredArguments.flatMap((argument) => ASKS[argument.name()] ?? []),
  }
  return [entry, ...children.flatMap((child) => vocabularyOf(child, [...path, child.name()]))]
}

const described = ({ long, short, description, flags }: Command['options'][number]): Entry['options'][number] => ({
  flag: long ?? short ?? '',
  description,
  takesFile: flags.includes('<file>'),
})

export const completionFor = (shell: 'bash' | 'zsh' | 'fish', entries: readonly Entry[]): string =>
  ({ bash, zsh, fish })[shell](entries)

const wordsOf = ({ commands, options, choices }: Entry): string =>
  [...commands.map(({ name }) => name), ...choices, ...options.map(({ flag }) => flag)].join(' ')

/** Not asked while an option is typed. */
const asked = ({ asks }: Entry): string =>
  asks.map((what) => ` $([[ $current == -* ]] || drawbridge complete ${what} 2>/dev/null)`).join('')

/** The variable is named `command` because `path` is PATH in zsh. */
const bash = (entries: readonly Entry[]): string =>
  `_drawbridge() {
  local word command="" current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  if [ "$previous" = "--config" ]; then
    COMPREPLY=($(compgen -f -- "$current"))
    return
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
${commandCases(entries)}
    esac
  done
  case "$command" in
${entries.map((entry) => `    "${entry.path.join('-')}") COMPREPLY=($(compgen -W "${wordsOf(entry)}${asked(entry)}" -- "$current")) ;;`).join('\n')}
  esac
}
complete -o default -F _drawbridge drawbridge`

const zsh = (entries: readonly Entry[]): string =>
  `#compdef drawbridge
_drawbridge() {
  local word command=""
  local -a offered
  for word in \${words[2,CURRENT-1]}; do
    case "$command $word" in
${commandCases(entries)}
    esac
  done
  if [[ \${words[CURRENT-1]} == --config ]]; then _files; return; fi
  case "$command" in
${entries.map((entry) => `    "${entry.path.join('-')}") offered=(${zshWords(entry)}${entry.asks.map((what) => ` \${(f)"$(drawbridge complete ${what} 2>/dev/null)"}`).join('')}) ;;`).join('\n')}
  esac
  _describe 'drawbridge' offered
}
if [ "$funcstack[1]" = "_drawbridge" ]; then _drawbridge "$@"; else compdef _drawbridge drawbridge; fi`

const zshWords = ({ commands, options, choices }: Entry): string =>
  [
    ...commands.map(({ name, description }) => `${name}:${description}`),
    ...choices,
    ...options.map(({ flag, description }) => `${flag}:${description}`),
  ]
    .map((word) => quoted(word))
    .join(' ')

const fish = (entries: readonly Entry[]): string =>
  [
    'complete -c drawbridge -f',
    ...entries.flatMap(({ path, commands, options, choices, asks }) => {
      const where = `-n ${quoted(
        fishCondition(
          path,
          commands.map(({ name }) => name),
        ),
      )}`
      return [
        ...commands.map(
          ({ name, description }) => `complete -c drawbridge ${where} -a ${name} -d ${quoted(description)}`,
        ),
        ...asks.map((what) => `complete -c drawbridge ${where} -a '(drawbridge complete ${what} 2>/dev/null)'`),
        ...choices.map((choice) => `complete -c drawbridge ${where} -a ${choice}`),
        ...options.map(
          ({ flag, description, takesFile }) =>
            `complete -c drawbridge ${where} -l ${flag.replace(/^--?/, '')}${takesFile ? ' -r -F' : ''} -d ${quoted(description)}`,
        ),
      ]
    }),
  ].join('\n')

function fishCondition(path: readonly string[], children: readonly string[]): string {
  if (path.length === 0) return '__fish_use_subcommand'
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`)
  const below = children.length > 0 ? [`not __fish_seen_subcommand_from ${children.join(' ')}`] : []
  return [...seen, ...below].join('; and ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`

/** The `case` lines, the same in bash and zsh, that find the command in the words typed so far. */
const commandCases = (entries: readonly Entry[]): string =>
  entries
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => `      "${path.slice(0, -1).join('-')} ${path.at(-1)}") command="${path.join('-')}" ;;`)
    .join('\n')
