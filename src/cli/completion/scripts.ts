import type { Command } from 'commander'
import type { Asked } from './offered.ts'

/** One command: its path below `drawbridge`, its description, and the words that may follow it. */
interface Entry {
  readonly path: readonly string[]
  readonly description: string
  readonly options: readonly Flag[]
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly choices: readonly string[]
  /** What the service is asked for when the argument of the command is completed. */
  readonly asks: readonly Asked[]
}

interface Flag {
  readonly flag: string
  /** The same in one letter. */
  readonly short?: string | undefined
  readonly description: string
  /** What may follow: a path, one of these words, or what the service tells. Undefined: another text, or nothing. */
  readonly values?: 'files' | readonly string[] | { readonly asks: Asked } | undefined
}

/** By what stands behind the flag in its declaration. */
const VALUES: Readonly<Record<string, Flag['values']>> = {
  '<file>': 'files',
  '<folder>': 'files',
  '<duration>': ['30m', '2h', '1d', '7d'],
  // Those of two words cannot be offered as words.
  '<badge>': ['RUNNING', 'DOWN', 'CERT', 'DRIFT', 'PENDING'],
  '<badges>': ['DOWN', 'CERT', 'DRIFT', 'PENDING', 'RUNNING'],
  '<host>': { asks: 'hosts' },
  '<planId>': { asks: 'plans' },
}

const ASKS: Readonly<Record<string, Entry['asks']>> = {
  host: ['hosts'],
  planId: ['plans'],
  planOrHost: ['hosts-and-plans'],
}

/** Commands whose host is a new one. */
const NEW_HOST: readonly string[] = ['plan']

/** Reads the declared commands, so completion always matches them. */
export function vocabularyOf(command: Command, path: readonly string[] = []): Entry[] {
  const children = command.commands.filter((child) => child.name() !== 'help' && child.name() !== 'complete')
  const entry: Entry = {
    path,
    description: command.description(),
    options: [...command.options.map(described), { flag: '--help', description: 'display help' }],
    commands: children.map((child) => ({ name: child.name(), description: child.description() })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    asks: NEW_HOST.includes(command.name())
      ? []
      : command.registeredArguments.flatMap((argument) => ASKS[argument.name()] ?? []),
  }
  return [entry, ...children.flatMap((child) => vocabularyOf(child, [...path, child.name()]))]
}

const described = ({ long, short, description, flags, argChoices }: Command['options'][number]): Flag => ({
  flag: long ?? short ?? '',
  short: long === undefined ? undefined : short,
  description,
  values: argChoices ?? (long === '--server' ? { asks: 'servers' } : VALUES[flags.split(' ').at(-1) ?? '']),
})

export const completionFor = (shell: 'bash' | 'zsh' | 'fish', entries: readonly Entry[]): string =>
  ({ bash, zsh, fish })[shell](entries)

const wordsOf = ({ commands, options, choices }: Entry): string =>
  [...commands.map(({ name }) => name), ...choices, ...options.map(({ flag }) => flag)].join(' ')

const question = (what: Asked, prefix: string): string => `drawbridge complete ${what} ${prefix} 2>/dev/null`

/** Not asked while an option is typed. */
const asked = ({ asks }: Entry): string =>
  asks.map((what) => ` $([[ $current == -* ]] || ${question(what, '"$current"')})`).join('')

/** The lines of a `case` for the values of options. `offer` is what the shell does with files, words or an answer of the service. */
const valueCases = (entries: readonly Entry[], offer: (values: NonNullable<Flag['values']>) => string): string =>
  entries
    .flatMap(({ path, options }) =>
      options.flatMap(({ flag, short = [], values }) =>
        [flag]
          .concat(short)
          .flatMap((name) =>
            values === undefined ? [] : [`    "${path.join('-')} ${name}") ${offer(values)}; return ;;`],
          ),
      ),
    )
    .join('\n')

const bashOffer = (values: NonNullable<Flag['values']>): string => {
  if (values === 'files') return 'COMPREPLY=($(compgen -f -- "$current"))'
  const words = 'asks' in values ? `$(${question(values.asks, '"$current"')})` : values.join(' ')
  return `COMPREPLY=($(compgen -W "${words}" -- "$current"))`
}

/** The variable is named `command` because `path` is PATH in zsh. */
const bash = (entries: readonly Entry[]): string =>
  `_drawbridge() {
  local word command="" current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $word" in
${commandCases(entries)}
    esac
  done
  case "$command $previous" in
${valueCases(entries, bashOffer)}
  esac
  case "$command" in
${entries.map((entry) => `    "${entry.path.join('-')}") COMPREPLY=($(compgen -W "${wordsOf(entry)}${asked(entry)}" -- "$current")) ;;`).join('\n')}
  esac
}
complete -o default -F _drawbridge drawbridge`

const zshOffer = (values: NonNullable<Flag['values']>): string => {
  if (values === 'files') return '_files'
  const words = 'asks' in values ? `\${(f)"$(${question(values.asks, '"$PREFIX"')})"}` : values.join(' ')
  return `offered=(${words}); _describe 'drawbridge' offered`
}

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
  case "$command \${words[CURRENT-1]}" in
${valueCases(entries, zshOffer)}
  esac
  case "$command" in
${entries.map((entry) => `    "${entry.path.join('-')}") offered=(${zshWords(entry)}${entry.asks.map((what) => ` \${(f)"$(${question(what, '"$PREFIX"')})"}`).join('')}) ;;`).join('\n')}
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
        ...asks.map((what) => `complete -c drawbridge ${where} -a '(${question(what, '(commandline -ct)')})'`),
        ...choices.map((choice) => `complete -c drawbridge ${where} -a ${choice}`),
        ...options.map(
          ({ flag, description, values }) =>
            `complete -c drawbridge ${where} -l ${flag.replace(/^--?/, '')}${fishValues(values)} -d ${quoted(description)}`,
        ),
      ]
    }),
  ].join('\n')

function fishValues(values: Flag['values']): string {
  if (values === undefined) return ''
  if (values === 'files') return ' -r -F'
  return ` -x -a '${'asks' in values ? `(${question(values.asks, '(commandline -ct)')})` : values.join(' ')}'`
}

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
