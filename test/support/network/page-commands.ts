import { readFileSync } from 'node:fs'

interface PageCommand {
  /** The machine of the last line `# on MACHINE`. */
  readonly machine: string
  readonly line: string
}

/** A shell block of a page. */
export interface PageBlock {
  /** The heading of its `##` section. */
  readonly section: string
  /** The last heading of the levels `##` and `###` above it. */
  readonly heading: string
  /** In their order, without their comments. */
  readonly commands: readonly PageCommand[]
}

/** Fences of these languages have no commands. */
const OTHERS = ['yaml', 'json']

/** The shell blocks of a page, in their order. */
export function blocksOf(page: string): PageBlock[] {
  const blocks: PageBlock[] = []
  let [section, heading] = ['', '']
  const parts = /^(##|###) (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm
  for (const [, level, title = '', language, text = ''] of readFileSync(page, 'utf8').matchAll(parts)) {
    if (level !== undefined) heading = title
    if (level === '##') section = title
    if (language !== undefined && !OTHERS.includes(language))
      blocks.push({ section, heading, commands: commandsIn(text) })
  }
  return blocks
}

/** The commands in the shell blocks of one section of a page. */
export const commandsOf = (page: string, section: string): PageCommand[] =>
  blocksOf(page).flatMap((block) => (block.section === section ? block.commands : []))

function commandsIn(block: string): PageCommand[] {
  const commands: PageCommand[] = []
  let machine = ''
  for (const line of block.split('\n')) {
    machine = /^# on (\S+)/.exec(line)?.[1] ?? machine
    const command = line.replace(/(?:^|\s+)#.*$/, '')
    if (command !== '') commands.push({ machine, line: command })
  }
  return commands
}
