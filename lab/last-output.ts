import { readFileSync } from 'node:fs'

/** Lines that follow the reason: stack frames, members of an error, a final message. */
const NOT_THE_REASON = /^$|^\s|^[}\]]|^Node\.js v|exiting \(due to fatal error\)/

/** The line of the output that says why a program exited. For a JSON log line, its message. */
export function lastOutput(output: string): string {
  const line = output.split('\n').findLast((text) => !NOT_THE_REASON.test(text))
  return line === undefined ? '(no output)' : (messageIn(line) ?? line)
}

/** The same for the whole content of a file. */
export const lastOutputIn = (file: string): string => lastOutput(readFileSync(file, 'utf8'))

function messageIn(line: string): string | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry !== 'object' || entry === null || !('msg' in entry)) return undefined
    return String(entry.msg)
  } catch {
    return undefined
  }
}
