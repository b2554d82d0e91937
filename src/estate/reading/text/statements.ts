import { isOpaque } from '../routes/directive.ts'
import { PASSES, type Route } from '../routes/route.ts'
import { visit } from './directives.ts'
import type { Listening } from './listen.ts'
import { UnreadableText } from './tokens.ts'

/** One directive of a file, and the content of its block. Only the directives in KEPT are stored. */
export interface Statement {
  readonly name: string
  readonly args: readonly string[]
  readonly line: number
  readonly block: readonly Statement[] | undefined
  /** Replaces the block of a server without includes. */
  readonly draft?: ServerDraft | undefined
}

export interface ParsedText {
  /** Everything before the fault, if there is one. */
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
    ...Object.keys(PASSES),
    'return',
    'rewrite',
    'break',
    'try_files',
    'error_page',
    'root',
    'alias',
    'index',
    'autoindex',
    'internal',
    'stub_status',
    'empty_gif',
    'deny',
    'auth_basic',
    'auth_request',
    'fastcgi_index',
    'fastcgi_split_path_info',
    'set',
    'upstream',
    'map',
  ].map((name) => [name, name]),
)

interface OpenBlock {
  /** Undefined when the block is not stored. */
  readonly statements: Statement[] | undefined
  /** The lines of a map are not directives. */
  readonly isMap: boolean
}

/** The content of a file: directives, or lines of a map. */
export type Content = 'directives' | 'entries'

/** Never throws: a syntax error is in `fault`. `seal` converts a block after its end. */
export function parse(text: string, content: Content, seal: (block: Statement) => Statement): ParsedText {
  const statements: Statement[] = []
  let current: OpenBlock = { statements, isMap: content === 'entries' }
  const around: OpenBlock[] = []
  const wants = (name: string) =>
    current.statements !== undefined && (current.isMap || KEPT.has(name) || isOpaque(name))
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
  // A copy has no spare capacity. That saves memory for thousands of files.
  return { statements: statements.slice(), fault: undefined }
}

/** Drops an incomplete server, because nginx never loaded it. Blocks around it keep their complete statements. */
function dropUnendedServer(open: readonly OpenBlock[]): void {
  const outer = open.find(
    ({ statements }, i) => open[i + 1]?.statements !== undefined && statements?.at(-1)?.name === 'server',
  )
  outer?.statements?.pop()
}

const NONE: readonly string[] = []
const ownAll = (words: readonly string[]): readonly string[] => (words.length === 0 ? NONE : words.map(own))

/** A copy: a slice would keep the whole text in memory. V8 copies strings shorter than 13 characters anyway. */
const own = (word: string): string => (word.length < 13 ? word : Buffer.from(word).toString())

/** A server block before variables, upstreams and other blocks are taken into account. */
export interface ServerDraft {
  readonly path: string
  readonly line: number
  readonly names: readonly string[]
  readonly listen: readonly Listening[]
  /** Does not inherit `ssl on` from the http block. */
  readonly hasSslOff?: boolean
  /** The kinds of included files whose names it has, too. See `KnownIncludes`. */
  readonly gathered: readonly string[]
  /** Where a request for `/` goes. */
  readonly route: Route
  /** The routes of those names of the server that have a different route. */
  readonly routes?: ReadonlyMap<string, Route>
  /** The statements on which the route depends. The route is computed after all files have been read. */
  readonly routing?: readonly Statement[] | undefined
}
