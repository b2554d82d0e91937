/** Lines that come after the reason: the rest of a stack, an error's printed members, a farewell. */
const AFTERTHOUGHT = /^$|^\s|^[}\]]|^Node\.js v|exiting \(due to fatal error\)/

/** The line that tells best why a program ended, from what it printed; of a JSON log line, its message. */
export function lastWords(output: string): string {
  const line = output.split('\n').findLast((text) => !AFTERTHOUGHT.test(text))
  return line === undefined ? '(it printed nothing)' : (messageIn(line) ?? line)
}

function messageIn(line: string): string | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry !== 'object' || entry === null || !('msg' in entry)) return undefined
    return String(entry.msg)
  } catch {
    return undefined
  }
}
