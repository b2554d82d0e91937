import { isHandler, OWN_ANSWERS, type RouteDirective } from './directive.ts'
import { findLocation, namedLocation } from './location-tree.ts'
import { type Around, type Request, RequestView, splitOnce, type WalkFacts } from './request.ts'
import { RewritePhase } from './rewrite-phase.ts'
import { joined, protocolOf, type Route } from './route.ts'

/** nginx ends a request after ten changes of its path. */
const MAX_CHANGES = 10

/** Follows a request for `/` through a server, as nginx's phases do. */
export function walkServer(server: readonly RouteDirective[], facts: WalkFacts): Route {
  return new Walk(server, facts).from({
    uri: '/',
    query: '',
    assignments: [],
    captures: new Map(),
    changes: 0,
    isInternal: false,
    isErrorPage: false,
  })
}

class Walk {
  readonly #server: readonly RouteDirective[]
  readonly #view: RequestView
  readonly #phase: RewritePhase

  constructor(server: readonly RouteDirective[], facts: WalkFacts) {
    this.#server = server
    this.#view = new RequestView(facts)
    this.#phase = new RewritePhase(this.#view, (args, request, around) => this.#returned(args, request, around))
  }

  /** Starts at the server's own rewrite directives. */
  from(request: Request): Route {
    if (request.changes > MAX_CHANGES) return 'none'
    return joined(
      this.#phase
        .run(this.#server, request, [this.#server])
        .map((way) => ('route' in way ? way.route : this.#search(way.request))),
    )
  }

  #search(request: Request): Route {
    const found = findLocation(this.#server, request.uri, this.#view.budget)
    if (!found) return 'unknown'
    const captures = found.captures ?? request.captures
    return this.#location(found.path, { ...request, captures })
  }

  #location(path: readonly RouteDirective[], request: Request): Route {
    if (request.changes > MAX_CHANGES) return 'none'
    const around = [this.#server, ...path.map(({ block = [] }) => block)]
    const own = path.at(-1)?.block
    if (!own) return this.#allowed(request, around, () => this.#tryFiles(this.#server, [], request, around))
    if (!request.isInternal && around.slice(1).some((block) => has(block, 'internal')))
      return this.#failed('404', request, around)
    const ways = this.#phase.run(own, request, around)
    return joined(
      ways.map((way) => {
        if ('route' in way) return way.route
        if (way.isChanged) return this.#search({ ...way.request, changes: way.request.changes + 1 })
        const inner = way.chosen?.block ?? []
        const inside = way.chosen ? [...around, inner] : around
        return this.#allowed(way.request, inside, () =>
          way.chosen
            ? this.#content([own, inner], way.request, inside)
            : this.#tryFiles(own, [own], way.request, inside),
        )
      }),
    )
  }

  /** A visitor without access gets an error page, which may lead to another backend. */
  #allowed(request: Request, around: Around, next: () => Route): Route {
    const isGuarded = around.some((block) =>
      block.some(({ name, args }) => name === 'deny' || (name.startsWith('auth_') && args[0] !== 'off')),
    )
    if (!isGuarded) return next()
    return joined([next(), this.#failed('401', request, around), this.#failed('403', request, around)])
  }

  #returned([status = '', text]: readonly string[], request: Request, around: Around): Route {
    const isErrorPage = text === undefined && /^[45]\d\d$/.test(status) && status !== '444'
    return isErrorPage ? this.#failed(status, request, around) : 'none'
  }

  /** The route of the error page, which may lead to a backend. */
  #failed(status: string, request: Request, around: Around): Route {
    if (request.isErrorPage) return 'none'
    const pages = this.#view.inherited('error_page', around)
    const page = pages.find(({ args }) => args.slice(0, -1).includes(status))?.args.at(-1)
    const target = page?.startsWith('$') ? this.#view.value(page, request, around) : page
    // Any other target is a redirect. An unknown variable counts as a redirect, too: programs set addresses, not paths.
    return target && /^[/@]/.test(target) ? this.#goTo(target, { ...request, isErrorPage: true }, around) : 'none'
  }

  /** An internal redirect: to a named location, or to a path. */
  #goTo(target: string, request: Request, around: Around): Route {
    const changed = { ...request, changes: request.changes + 1, isInternal: true }
    if (target.startsWith('@')) {
      const location = namedLocation(this.#server, target)
      return location ? this.#location([location], changed) : 'none'
    }
    const [path = '', query] = splitOnce(target, '?')
    const uri = this.#view.value(path, request, around)
    if (uri === undefined) return 'unknown'
    return this.from({ ...changed, uri, query: query === undefined ? '' : this.#view.value(query, request, around) })
  }

  /** `own`: the location, or the server if no location matches the path. `handlers`: the blocks that may have a handler. */
  #tryFiles(own: readonly RouteDirective[], handlers: Around, request: Request, around: Around): Route {
    const files = own.find(({ name }) => name === 'try_files')?.args
    if (!files) return this.#content(handlers, request, around)
    if (this.#view.hasUnknownRoot(around)) return 'unknown'
    const last = files.at(-1) ?? ''
    const routes: Route[] = []
    for (const file of files.slice(0, -1)) {
      const wanted = file.endsWith('/') ? 'folder' : 'file'
      // nginx drops the slash that asks for a folder.
      const path = file.replace(/\/$/, '')
      const kind = this.#view.kindOf(path, request, around)
      if (kind !== wanted && kind !== 'unknown') continue
      const uri = this.#view.value(path, request, around)
      routes.push(uri === undefined ? 'unknown' : this.#content(handlers, { ...request, uri }, around))
      if (kind === wanted) return joined(routes)
    }
    const [, status] = /^=(\d+)$/.exec(last) ?? []
    return joined([
      ...routes,
      status === undefined ? this.#goTo(last, request, around) : this.#failed(status, request, around),
    ])
  }

  /** `own`: the location, and the `if` that was chosen in it. Without a backend of its own, the `if` uses that of the location. */
  #content(own: Around, request: Request, around: Around): Route {
    const blocks = own.flatMap((block) => [...block, ...limitsOf(block)]).reverse()
    const handler = blocks.find(({ name }) => isHandler(name))
    if (!handler) return this.#static(request, around)
    if (OWN_ANSWERS.has(handler.name)) return 'none'
    const protocol = protocolOf(handler.name)
    if (protocol === undefined) return 'unknown'
    const to = handler.args[0] ?? ''
    const { assignments, captures } = request
    // Captures are values of this request, like assignments.
    const captured = to.includes('$') ? [...captures].map(([name, value]) => ({ name, value })) : []
    return { protocol, to, assignments: to.includes('$') ? [...captured, ...assignments] : [] }
  }

  #static(request: Request, around: Around): Route {
    if (this.#view.hasUnknownRoot(around)) return 'unknown'
    if (!request.uri.endsWith('/')) return this.#file(request, around)
    const folder = this.#view.kindOf('$uri', request, around)
    const routes: Route[] = []
    if (folder === 'none' || folder === 'file') return this.#failed('404', request, around)
    if (folder === 'unknown') routes.push(this.#failed('404', request, around))
    const indexes = this.#view.inherited('index', around).flatMap(({ args }) => args)
    for (const index of indexes.length > 0 ? indexes : ['index.html']) {
      const kind = index.startsWith('/') ? 'file' : this.#view.kindOf(`\${uri}${index}`, request, around)
      if (kind === 'none' || kind === 'folder') continue
      routes.push(this.#goTo(index.startsWith('/') ? index : `${request.uri}${index}`, request, around))
      if (kind === 'file') return joined(routes)
    }
    const isListed = this.#view.inherited('autoindex', around)[0]?.args[0] === 'on'
    return joined([...routes, isListed ? 'none' : this.#failed('403', request, around)])
  }

  #file(request: Request, around: Around): Route {
    const kind = this.#view.kindOf('$uri', request, around)
    if (kind === 'file' || kind === 'folder') return 'none'
    return kind === 'none'
      ? this.#failed('404', request, around)
      : joined(['none', this.#failed('404', request, around)])
  }
}

const has = (block: readonly RouteDirective[], wanted: string): boolean => block.some(({ name }) => name === wanted)

/** `limit_except POST { … }` applies to other methods, such as GET. */
const limitsOf = (block: readonly RouteDirective[]): readonly RouteDirective[] =>
  block.flatMap(({ name, args, block: inner = [] }) =>
    name === 'limit_except' && !args.some((method) => method.toUpperCase() === 'GET') ? inner : [],
  )
