import { type Captures, newSteps, pattern } from '../patterns/pattern.ts'
import { type Knowledge, type PathKind, verdictOf } from './condition.ts'
import { isOpaque, type RouteDirective } from './directive.ts'
import { findLocation, namedLocation } from './location-tree.ts'
import { type Assignment, joined, protocolOf, type Route } from './route.ts'

/** What a walk may ask about the request and the machine. */
export interface WalkFacts {
  /** The value of a text with variables after these assignments; undefined when it is not known. */
  value(text: string, assignments: readonly Assignment[], own: ReadonlyMap<string, string>): string | undefined
  kindOf(path: string): PathKind
  /** What the http block says about `root`, `index`, `error_page`, `autoindex`. */
  readonly http: readonly RouteDirective[]
}

/** nginx ends a request after ten changes of its path. */
const MAX_CHANGES = 10
/** Every condition that is not known doubles the ways. */
const MAX_STEPS = 2_000

interface Request {
  readonly uri: string
  /** Undefined: not known. */
  readonly query: string | undefined
  readonly assignments: readonly Assignment[]
  readonly captures: Captures
  readonly changes: number
  readonly isErrorPage: boolean
}

/** The blocks whose settings apply, outermost first: server, locations, `if`. */
type Around = readonly (readonly RouteDirective[])[]

/** A way through the rewrite directives of a block. */
type Way =
  | { readonly route: Route }
  | {
      readonly request: Request
      readonly isStopped: boolean
      readonly isChanged: boolean
      readonly chosen: RouteDirective | undefined
    }

/** Follows a request for `/` through a server, as nginx's phases do. */
export function walkServer(server: readonly RouteDirective[], facts: WalkFacts): Route {
  return new Walk(server, facts).from({
    uri: '/',
    query: '',
    assignments: [],
    captures: new Map(),
    changes: 0,
    isErrorPage: false,
  })
}

class Walk {
  readonly #server: readonly RouteDirective[]
  readonly #facts: WalkFacts
  #steps = 0

  constructor(server: readonly RouteDirective[], facts: WalkFacts) {
    this.#server = server
    this.#facts = facts
  }

  /** From the server's own rewrite directives on. */
  from(request: Request): Route {
    if (request.changes > MAX_CHANGES) return 'none'
    return joined(
      this.#rewrite(this.#server, request, [this.#server]).map((way) =>
        'route' in way ? way.route : this.#search(way.request),
      ),
    )
  }

  #search(request: Request): Route {
    const found = findLocation(this.#server, request.uri)
    if (!found) return 'unknown'
    const captures = found.captures ?? request.captures
    return this.#location(found.path, { ...request, captures })
  }

  #location(path: readonly RouteDirective[], request: Request): Route {
    if (request.changes > MAX_CHANGES) return 'none'
    const around = [this.#server, ...path.map(({ block = [] }) => block)]
    const own = path.at(-1)?.block
    if (!own) return this.#content([], request, around)
    const ways = this.#rewrite(own, request, around)
    return joined(
      ways.map((way) => {
        if ('route' in way) return way.route
        if (way.isChanged) return this.#search({ ...way.request, changes: way.request.changes + 1 })
        if (way.chosen)
          return this.#content([own, way.chosen.block ?? []], way.request, [...around, way.chosen.block ?? []])
        return this.#tryFiles(own, way.request, around)
      }),
    )
  }

  /** Runs the rewrite directives in their order. */
  #rewrite(statements: readonly RouteDirective[], request: Request, around: Around, isChanged = false): Way[] {
    let open: Exclude<Way, { route: Route }>[] = [{ request, isStopped: false, isChanged, chosen: undefined }]
    const ended: Way[] = []
    const isServer = around.length === 1
    for (const statement of statements) {
      const next: typeof open = []
      for (const way of open) {
        this.#steps += 1
        if (this.#steps > MAX_STEPS) return [{ route: 'unknown' }]
        for (const result of this.#step(statement, way, around, isServer)) {
          if ('route' in result || result.isStopped) ended.push(result)
          else next.push(result)
        }
      }
      open = next
    }
    return [...ended, ...open]
  }

  #step(
    { name, args, block }: RouteDirective,
    way: Exclude<Way, { route: Route }>,
    around: Around,
    isServer: boolean,
  ): Way[] {
    const { request } = way
    if (isInterfering(name)) return [{ route: 'unknown' }]
    switch (name) {
      case 'set': {
        const text = args[1] ?? ''
        // The captures of a pattern are those of this moment.
        const value = /\$\{?\d/.test(text) ? (this.#value(text, request, around) ?? UNKNOWN_VALUE) : text
        const assignment = { name: (args[0] ?? '').replace(/^\$/, '').toLowerCase(), value }
        return [{ ...way, request: { ...request, assignments: [...request.assignments, assignment] } }]
      }
      case 'break':
        return [{ ...way, isStopped: true, isChanged: false }]
      case 'return':
        return [{ route: this.#returned(args, request, around) }]
      case 'rewrite':
        return this.#rewritten(args, way, around)
      case 'if':
        return this.#condition({ name, args, block }, way, around, isServer)
      default:
        return [way]
    }
  }

  #condition(statement: RouteDirective, way: Exclude<Way, { route: Route }>, around: Around, isServer: boolean): Way[] {
    const { block = [], args } = statement
    const verdict = verdictOf(args, this.#knowledge(way.request, around))
    const isUnknown = verdict === 'unknown'
    const ways: Way[] = []
    if (isUnknown || verdict.holds) {
      const captures = isUnknown ? UNKNOWN_CAPTURES : (verdict.captures ?? way.request.captures)
      const inner = this.#rewrite(block, { ...way.request, captures }, [...around, block], way.isChanged)
      for (const one of inner) {
        if ('route' in one) ways.push(one)
        else
          ways.push({
            ...one,
            chosen: isServer ? undefined : statement,
          })
      }
    }
    if (isUnknown || !verdict.holds) ways.push(way)
    return ways
  }

  #rewritten(args: readonly string[], way: Exclude<Way, { route: Route }>, around: Around): Way[] {
    const [source = '', replacement = '', flag] = args
    const { request } = way
    const result = pattern(source, false).match(request.uri, newSteps())
    const isRedirect = flag === 'redirect' || flag === 'permanent' || /^(?:https?:\/\/|\$scheme)/.test(replacement)
    if (result === 'unknown') {
      return isRedirect ? [{ route: 'none' }, way] : [{ route: 'unknown' }]
    }
    if (!result.isMatch) return [way]
    if (isRedirect) return [{ route: 'none' }]
    const [path = '', query] = splitOnce(replacement, '?')
    const matched = { ...request, captures: result.captures }
    const uri = this.#value(path, matched, around)
    if (uri === undefined) return [{ route: 'unknown' }]
    // The query of the request follows that of the replacement.
    const added = query === undefined ? '' : this.#value(query, matched, around)
    const changed = { ...matched, uri, query: request.query === '' ? added : undefined }
    if (flag === 'break') return [{ ...way, request: changed, isStopped: true, isChanged: false }]
    return [{ ...way, request: changed, isStopped: flag === 'last', isChanged: true }]
  }

  #returned([status = '', text]: readonly string[], request: Request, around: Around): Route {
    const isErrorPage = text === undefined && /^[45]\d\d$/.test(status) && status !== '444'
    return isErrorPage ? this.#failed(status, request, around) : 'none'
  }

  /** The page for an error, which may lead to a backend. */
  #failed(status: string, request: Request, around: Around): Route {
    if (request.isErrorPage) return 'none'
    const pages = this.#inherited('error_page', around)
    const page = pages.find(({ args }) => args.slice(0, -1).includes(status))?.args.at(-1)
    if (page === undefined || /^https?:\/\//.test(page)) return 'none'
    return this.#goTo(page, { ...request, isErrorPage: true }, around)
  }

  /** An internal redirect: to a named location, or to a path. */
  #goTo(target: string, request: Request, around: Around): Route {
    const changed = { ...request, changes: request.changes + 1 }
    if (target.startsWith('@')) {
      const location = namedLocation(this.#server, target)
      return location ? this.#location([location], changed) : 'none'
    }
    const [path = '', query] = splitOnce(target, '?')
    const uri = this.#value(path, request, around)
    if (uri === undefined) return 'unknown'
    return this.from({ ...changed, uri, query: query === undefined ? '' : this.#value(query, request, around) })
  }

  #tryFiles(own: readonly RouteDirective[], request: Request, around: Around): Route {
    const files = own.find(({ name }) => name === 'try_files')?.args
    if (!files) return this.#content([own], request, around)
    const last = files.at(-1) ?? ''
    const routes: Route[] = []
    for (const file of files.slice(0, -1)) {
      const wanted = file.endsWith('/') ? 'folder' : 'file'
      // nginx drops the slash that asks for a folder.
      const path = file.replace(/\/$/, '')
      const kind = this.#kindOf(path, request, around)
      if (kind !== wanted && kind !== 'unknown') continue
      const uri = this.#value(path, request, around)
      routes.push(uri === undefined ? 'unknown' : this.#content([own], { ...request, uri }, around))
      if (kind === wanted) return joined(routes)
    }
    const [, status] = /^=(\d+)$/.exec(last) ?? []
    return joined([
      ...routes,
      status === undefined ? this.#goTo(last, request, around) : this.#failed(status, request, around),
    ])
  }

  /** `own`: the location, and the `if` that was chosen in it, which has the backend of the location if it has none. */
  #content(own: readonly (readonly RouteDirective[])[], request: Request, around: Around): Route {
    const blocks = own.flatMap((block) => [...block, ...limitsOf(block)]).reverse()
    const handler = blocks.find(({ name }) => isOpaque(name))
    if (!handler) return this.#static(request, around)
    const protocol = protocolOf(handler.name)
    if (protocol === undefined) return 'unknown'
    const to = handler.args[0] ?? ''
    const { assignments, captures } = request
    // Captures are values of this request, like assignments.
    const captured = to.includes('$') ? [...captures].map(([name, value]) => ({ name, value })) : []
    return { protocol, to, assignments: to.includes('$') ? [...captured, ...assignments] : [] }
  }

  #static(request: Request, around: Around): Route {
    if (!request.uri.endsWith('/')) return this.#file(request, around)
    const folder = this.#kindOf('$uri', request, around)
    const routes: Route[] = []
    if (folder === 'none' || folder === 'file') return this.#failed('404', request, around)
    if (folder === 'unknown') routes.push(this.#failed('404', request, around))
    const indexes = this.#inherited('index', around).flatMap(({ args }) => args)
    for (const index of indexes.length > 0 ? indexes : ['index.html']) {
      const kind = index.startsWith('/') ? 'file' : this.#kindOf(`\${uri}${index}`, request, around)
      if (kind === 'none' || kind === 'folder') continue
      routes.push(this.#goTo(index.startsWith('/') ? index : `${request.uri}${index}`, request, around))
      if (kind === 'file') return joined(routes)
    }
    return joined([...routes, this.#failed('403', request, around)])
  }

  #file(request: Request, around: Around): Route {
    const kind = this.#kindOf('$uri', request, around)
    if (kind === 'file' || kind === 'folder') return 'none'
    return kind === 'none'
      ? this.#failed('404', request, around)
      : joined(['none', this.#failed('404', request, around)])
  }

  #kindOf(text: string, request: Request, around: Around): PathKind {
    const path = this.#value(text, request, around)
    const root = this.#root(request, around)
    if (path === undefined || root === undefined) return 'unknown'
    return this.#facts.kindOf(`${root}${path.startsWith('/') ? '' : '/'}${path}`)
  }

  /** Undefined with `alias`, with a relative path, and where it depends on more than is known. */
  #root(request: Request, around: Around): string | undefined {
    if (this.#inherited('alias', around.slice(1)).length > 0) return undefined
    const text = this.#inherited('root', around)[0]?.args[0]
    const path = text === undefined ? undefined : this.#facts.value(text, request.assignments, request.captures)
    return path?.startsWith('/') ? path.replace(/\/$/, '') : undefined
  }

  /** The directives of the innermost block that has one, up to the http block. */
  #inherited(name: string, around: Around): readonly RouteDirective[] {
    for (const block of [this.#facts.http, ...around].toReversed()) {
      const found = block.filter((statement) => statement.name === name)
      if (found.length > 0) return found
    }
    return []
  }

  #knowledge(request: Request, around: Around): Knowledge {
    return { value: (text) => this.#value(text, request, around), kindOf: (path) => this.#facts.kindOf(path) }
  }

  #value(text: string, request: Request, around: Around): string | undefined {
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
    return this.#facts.value(text, assignments, own)
  }
}

/** A variable that no configuration has: its value is not known. */
const UNKNOWN_VALUE = '$drawbridge_unknown'

const UNKNOWN_CAPTURES: Captures = new Map()

/** Programs that may answer, redirect or set variables before the content is chosen. */
const isInterfering = (name: string): boolean => /^(?:server_rewrite|rewrite|access|set)_by_lua|^js_access$/.test(name)

/** `limit_except POST { … }` applies to other methods, such as GET. */
const limitsOf = (block: readonly RouteDirective[]): readonly RouteDirective[] =>
  block.flatMap(({ name, args, block: inner = [] }) =>
    name === 'limit_except' && !args.some((method) => method.toUpperCase() === 'GET') ? inner : [],
  )

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
