import { visit } from './directives.ts'
import type { Listening } from './listen.ts'
import { UnreadableText } from './tokens.ts'

/** One directive of a file, and what is in its block. Of the many that there are, those that say who serves what. */
export interface Statement {
  readonly name: string
  readonly args: readonly string[]
  readonly line: number
  readonly block: readonly Statement[] | undefined
  /** In place of its block, where a server is all in one file. */
  readonly draft?: ServerDraft | undefined
}

export interface ParsedText {
  /** All up to the fault, where there is one. */
  readonly statements: readonly Statement[]
  readonly fault: UnreadableText | undefined
}

const KEPT = new Map(
  [
    'http',
    'events',
    'error_log',
    'debug_connection',
    'include',
    'server',
    'listen',
    'server_name',
    'ssl',
    'location',
    'if',
    'limit_except',
    'proxy_pass',
    'return',
    'set',
    'upstream',
    'map',
  ].map((name) => [name, name]),
)

interface OpenBlock {
  /** Undefined: nothing of it is kept. */
  readonly statements: Statement[] | undefined
  /** What stands in a map are not directives. */
  readonly isMap: boolean
}

/** What stands in a file: directives, or the lines of a map that includes it. */
export type Content = 'directives' | 'entries'

/** Never throws: a fault is told beside what could be read. `seal`: what is kept of a block when it has ended. */
export function parse(text: string, content: Content, seal: (block: Statement) => Statement): ParsedText {
  const statements: Statement[] = []
  let current: OpenBlock = { statements, isMap: content === 'entries' }
  const around: OpenBlock[] = []
  const wants = (name: string) => current.statements !== undefined && (current.isMap || KEPT.has(name))
  const add = (name: string, args: readonly string[], line: number, block?: Statement[]) =>
    current.statements?.push({ name: KEPT.get(name) ?? own(name), args: ownAll(args), line, block })
  const close = () => {
    const isKept = current.statements !== undefined
    current = around.pop() ?? current
    const ended = isKept ? current.statements?.pop() : undefined
    if (ended) current.statements?.push(seal(ended))
  }
  try {
    visit(text, {
      wants,
      directive: (name, args, { line }) => add(name, args, line),
      open(name, args, { line }) {
        const block = wants(name) ? [] : undefined
        if (block) add(name, args, line, block)
        around.push(current)
        current = { statements: block, isMap: name === 'map' }
      },
      close,
    })
  } catch (error) {
    if (!(error instanceof UnreadableText)) throw error
    dropUnendedServer([...around, current])
    return { statements, fault: error }
  }
  // A copy without the room for more that the list has grown: there may be thousands of them.
  return { statements: statements.slice(), fault: undefined }
}

/** nginx never served it, and its names may be anything. Blocks around it keep what ended before. */
function dropUnendedServer(open: readonly OpenBlock[]): void {
  const outer = open.find(
    ({ statements }, i) => open[i + 1]?.statements !== undefined && statements?.at(-1)?.name === 'server',
  )
  outer?.statements?.pop()
}

const NONE: readonly string[] = []
const ownAll = (words: readonly string[]): readonly string[] => (words.length === 0 ? NONE : words.map(own))

/** A copy: a slice would keep the whole text in memory for as long as it lives. Short ones are copies anyway. */
const own = (word: string): string => (word.length < 13 ? word : Buffer.from(word).toString())

/** `set $name value`. One within an `if` may happen or not. */
export interface Assignment {
  readonly name: string
  readonly value: string
  readonly isConditional: boolean
}

/** Where a location sends its requests, and what was set on the way there. */
export interface ProxyPass {
  readonly to: string
  readonly assignments: readonly Assignment[]
}

/** A server block as it is written, before variables, upstreams and other blocks are looked at. */
export interface ServerDraft {
  readonly path: string
  readonly line: number
  readonly names: readonly string[]
  readonly listen: readonly Listening[]
  /** Undefined: it proxies nowhere. */
  readonly proxyPass: ProxyPass | undefined
}
