import { createInterface } from 'node:readline/promises'
import { printableText } from './screen.ts'

/** The person answered no, or left the question. */
export class Declined extends Error {}

interface How {
  /** False: only a line that is typed after the question was shown answers it. */
  readonly takesEarly?: boolean
  /** A line that came early is not shown as the answer. */
  readonly isSecret?: boolean
}

/** Lines that came with the answer to a former question. */
const early: string[] = []

/** What a person at the terminal answers. Rejects with Declined if they leave by Ctrl-C or Ctrl-D. */
export async function ask(question: string, { takesEarly = true, isSecret = false }: How = {}): Promise<string> {
  const shown = printableText(question)
  if (!takesEarly) early.length = 0
  const known = early.shift()
  if (known !== undefined) {
    process.stderr.write(`${shown}${isSecret ? '' : printableText(known)}\n`)
    return known
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  terminal.on('line', (line) => early.push(line))
  // A closed input never answers.
  const left = new Promise<undefined>((resolve) => {
    terminal.once('SIGINT', () => terminal.close())
    terminal.once('close', () => resolve(undefined))
  })
  const answer = await Promise.race([terminal.question(shown), left]).finally(() => terminal.close())
  if (answer !== undefined) return answer
  process.stderr.write('\n')
  throw new Declined('Nothing was changed.')
}
