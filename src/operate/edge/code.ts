import type { Clock } from '../../primitives/clock.ts'
import { UsageError } from '../../terminal/declare.ts'
import { ask } from '../../terminal/question.ts'
import { privateLine } from '../private-line.ts'

const LONGEST = 4_096

/** The code of an enrolment. It must never be an argument: every user of the machine can read arguments. */
export async function codeFrom(file: string | undefined, clock: Clock): Promise<string> {
  const code = file === undefined ? await fromStandardInput() : await privateLine(file, 'code file', clock)
  if (code.trim() !== '') return code.trim()
  throw new UsageError('There is no code. Type what "drawbridge edge enroll" has printed, or pass --code-file FILE.')
}

async function fromStandardInput(): Promise<string> {
  if (process.stdin.isTTY) return ask('Code: ', { isSecret: true })
  let text = ''
  for await (const chunk of process.stdin) {
    text += chunk
    if (text.length > LONGEST) throw new UsageError('What came on standard input is too long for a code.')
  }
  return text
}
