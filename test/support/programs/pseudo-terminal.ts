import { spawn } from 'node:child_process'
import { findProgram } from '../../../lab/program.ts'

interface Typed {
  /** A function is called when it is typed. */
  readonly input?: string | (() => string)
  /** The input is typed when this text has been shown. Default: at once. */
  readonly inputAfter?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Default: 80. */
  readonly columns?: number
}

/** Runs a shell line on a pseudo terminal of 24 rows. Resolves with all output. */
export function onTerminal(
  line: string,
  { input = '', environment = {}, columns = 80, inputAfter }: Typed = {},
): Promise<string> {
  const script = findProgram('script', 'bsdutils')
  const child = spawn(script, ['-qec', `stty cols ${columns} rows 24 -echo; ${line}`, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm-256color', ...environment },
  })
  let output = ''
  const type = () => child.stdin.write(typeof input === 'string' ? input : input())
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    const isShown = inputAfter !== undefined && !output.includes(inputAfter)
    output += part
    if (isShown && output.includes(inputAfter)) type()
  })
  if (inputAfter === undefined) type()
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve(output))
  })
}

/** The final content of the terminal, after cursor movements and erasures, without colours. */
export function finalScreen(output: string): string[] {
  const lines: string[] = ['']
  let row = 0
  let column = 0
  const put = (character: string) => {
    const line = (lines[row] ?? '').padEnd(column)
    lines[row] = line.slice(0, column) + character + line.slice(column + 1)
    column += 1
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences control a terminal
  for (const [part, , count = '', command] of output.matchAll(/\u001b\[([?]?)([\d;]*)([A-Za-z])|[\s\S]/gu)) {
    const steps = Number(count || 1)
    if (command === 'A') row = Math.max(0, row - steps)
    else if (command === 'G') column = steps - 1
    else if (command === 'K') lines[row] = count === '2' ? '' : (lines[row] ?? '').slice(0, column)
    else if (command === 'J') lines.splice(row + 1)
    else if (command !== undefined) continue
    else if (part === '\r') column = 0
    else if (part === '\n') {
      row += 1
      lines[row] ??= ''
    } else put(part)
  }
  return lines.map((line) => line.trimEnd())
}
