import { readFileSync } from 'node:fs'

interface PageCommand {
  /** The machine of the last line `# on MACHINE`. */
  readonly machine: string
  readonly line: string
}

/** The commands in the shell blocks of one section of a page, in their order, without their comments. */
export function commandsOf(page: string, section: string): PageCommand[] {
  const text = readFileSync(page, 'utf8')
    .split(/^## /m)
    .find((part) => part.startsWith(`${section}\n`))
  const commands: PageCommand[] = []
  for (const [, block = ''] of (text ?? '').matchAll(/^```sh\n([\s\S]*?)^```$/gm)) {
    let machine = ''
    for (const line of block.split('\n')) {
      machine = /^# on (\S+)/.exec(line)?.[1] ?? machine
      const command = line.replace(/(?:^|\s+)#.*$/, '')
      if (command !== '') commands.push({ machine, line: command })
    }
  }
  return commands
}
