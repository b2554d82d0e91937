import type { Captures } from '../patterns/pattern.ts'
import { pattern, type StepBudget } from '../patterns/pattern.ts'
import type { PathKind } from './condition.ts'
import type { RouteDirective } from './directive.ts'
import type { Assignment } from './route.ts'

/** The facts about the request and the machine that a walk may use. */
export interface WalkFacts {
  /** The value of a text with variables after these assignments; undefined when it is not known. */
  value(text: string, assignments: readonly Assignment[], own: ReadonlyMap<string, string>): string | undefined
  kindOf(path: string): PathKind
  /** The directives `root`, `index`, `error_page` and `autoindex` of the http block. */
  readonly http: readonly RouteDirective[]
  /** The folder from which a relative `root` starts. Undefined: not known. */
  readonly prefix?: string | undefined
  readonly budget: StepBudget
}

export interface Request {
  readonly uri: string
  /** Undefined: not known. */
  readonly query: string | undefined
  readonly assignments: readonly Assignment[]
  readonly captures: Captures
  readonly changes: number
  /** nginx has changed the path. A location with `internal` answers only such requests. */
  readonly isInternal: boolean
  readonly isErrorPage: boolean
}

/** The blocks whose settings apply, outermost first: server, locations, `if`. */
export type Around = readonly (readonly RouteDirective[])[]

export const UNKNOWN_CAPTURES: Captures = new Map()

/** The values of variables, settings and disk paths for a request in a block. */
export class RequestView {
  readonly #facts: WalkFacts

  constructor(facts: WalkFacts) {
    this.#facts = facts
  }

  get budget(): StepBudget {
    return this.#facts.budget
  }

  /** The directives with this name of the innermost block that has one, up to the http block. */
  inherited(name: string, around: Around): readonly RouteDirective[] {
    for (const block of around.toReversed()) {
      const found = block.filter((statement) => statement.name === name)
      if (found.length > 0) return found
    }
    return this.#facts.http.filter((statement) => statement.name === name)
  }

  value(text: string, request: Request, around: Around): string | undefined {
    if (!text.includes('$')) return text
    const { uri, query, captures, assignments } = request
    const own = new Map(captures)
    if (captures === UNKNOWN_CAPTURES && /\$\{?\d/.test(text)) return undefined
    own.set('uri', uri).set('document_uri', uri)
    if (query !== undefined)
      own
        .set('args', query)
        .set('query_string', query)
        .set('is_args', query === '' ? '' : '?')
    if (query === '') for (const [, name = ''] of text.matchAll(/\$\{?(arg_\w+)/gi)) own.set(name.toLowerCase(), '')
    if (/\$\{?(?:request_filename|document_root|realpath_root)/.test(text)) {
      const root = this.#root(request, around)
      if (root === undefined) return undefined
      own.set('document_root', root).set('request_filename', `${root}${uri}`)
    }
    if (/\$\{?fastcgi_script_name/.test(text)) {
      const script = this.#scriptName(uri, around)
      if (script === undefined) return undefined
      own.set('fastcgi_script_name', script)
    }
    return this.#facts.value(text, assignments, own)
  }

  /** The kind of file at a path of the request. */
  kindOf(text: string, request: Request, around: Around): PathKind {
    const path = this.value(text, request, around)
    const root = this.#root(request, around)
    if (path === undefined || root === undefined) return 'unknown'
    return this.#facts.kindOf(`${root}${path.startsWith('/') ? '' : '/'}${path}`)
  }

  /** The kind of file at an absolute path. */
  kindAt(path: string): PathKind {
    return this.#facts.kindOf(path)
  }

  /**
   * A relative root starts at a folder that only nginx knows, unless nginx is started with that folder. No file can be looked up
   * then.
   */
  hasUnknownRoot(around: Around): boolean {
    const text = this.inherited('root', around)[0]?.args[0]
    return text !== undefined && !/^[/$]/.test(text) && this.#facts.prefix === undefined
  }

  /** Undefined with `alias`, with a relative path from an unknown folder, and if the value depends on something unknown. */
  #root(request: Request, around: Around): string | undefined {
    if (around.slice(1).some((block) => block.some(({ name }) => name === 'alias'))) return undefined
    const text = this.inherited('root', around)[0]?.args[0]
    const path = text === undefined ? undefined : this.#facts.value(text, request.assignments, request.captures)
    const { prefix } = this.#facts
    const absolute = path === undefined || path.startsWith('/') || prefix === undefined ? path : `${prefix}/${path}`
    return absolute?.startsWith('/') ? absolute.replace(/\/$/, '') : undefined
  }

  /** The path without the part that `fastcgi_split_path_info` cuts off. For a folder, the file of `fastcgi_index` is appended. */
  #scriptName(uri: string, around: Around): string | undefined {
    const split = this.inherited('fastcgi_split_path_info', around)[0]?.args[0]
    const result = split === undefined ? undefined : this.budget.ask((steps) => pattern(split, false).match(uri, steps))
    if (result === 'unknown') return undefined
    const script = result?.isMatch ? (result.captures.get('1') ?? uri) : uri
    return script.endsWith('/') ? `${script}${this.inherited('fastcgi_index', around)[0]?.args[0] ?? ''}` : script
  }
}

export function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
