import { pattern } from '../patterns/pattern.ts'
import { verdictOf } from './condition.ts'
import { isInterfering, type RouteDirective } from './directive.ts'
import { type Around, type Request, type RequestView, splitOnce, UNKNOWN_CAPTURES } from './request.ts'
import type { Route } from './route.ts'

/** Every unknown condition doubles the number of ways. */
const MAX_STEPS = 2_000

interface OpenWay {
  readonly request: Request
  readonly isStopped: boolean
  readonly isChanged: boolean
  /** The last `if` of a location whose condition holds. Its settings apply to the request. */
  readonly chosen: RouteDirective | undefined
}

/** A way through the rewrite directives of a block. */
export type Way = { readonly route: Route } | OpenWay

/** Runs `set`, `if`, `return`, `rewrite` and `break` as nginx does. Follows both ways if a condition is unknown. */
export class RewritePhase {
  readonly #view: RequestView
  readonly #returned: (args: readonly string[], request: Request, around: Around) => Route
  #steps = 0

  /** `returned`: where a request goes after `return`. */
  constructor(view: RequestView, returned: (args: readonly string[], request: Request, around: Around) => Route) {
    this.#view = view
    this.#returned = returned
  }

  /** In the order of the block. */
  run(statements: readonly RouteDirective[], request: Request, around: Around, isChanged = false): Way[] {
    let open: OpenWay[] = [{ request, isStopped: false, isChanged, chosen: undefined }]
    const ended: Way[] = []
    for (const statement of statements) {
      const next: OpenWay[] = []
      for (const way of open) {
        this.#steps += 1
        if (this.#steps > MAX_STEPS) return [{ route: 'unknown' }]
        for (const result of this.#step(statement, way, around)) {
          if ('route' in result || result.isStopped) ended.push(result)
          else next.push(result)
        }
      }
      open = next
    }
    return [...ended, ...open]
  }

  #step({ name, args, block }: RouteDirective, way: OpenWay, around: Around): Way[] {
    const { request } = way
    if (isInterfering(name)) return [{ route: 'unknown' }]
    switch (name) {
      case 'set': {
        const text = args[1] ?? ''
        // Captures must be resolved now: a later pattern replaces them.
        const value = /\$\{?\d/.test(text) ? (this.#view.value(text, request, around) ?? UNKNOWN_VALUE) : text
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
        return this.#condition({ name, args, block }, way, around)
      default:
        return [way]
    }
  }

  #condition(statement: RouteDirective, way: OpenWay, around: Around): Way[] {
    const { block = [], args } = statement
    const verdict = verdictOf(args, {
      value: (text) => this.#view.value(text, way.request, around),
      kindOf: (path) => this.#view.kindAt(path),
      budget: this.#view.budget,
    })
    const isUnknown = verdict === 'unknown'
    const ways: Way[] = []
    if (isUnknown || verdict.holds) {
      const captures = isUnknown ? UNKNOWN_CAPTURES : (verdict.captures ?? way.request.captures)
      const inner = this.run(block, { ...way.request, captures }, [...around, block], way.isChanged)
      const chosen = around.length === 1 ? undefined : statement
      ways.push(...inner.map((one) => ('route' in one ? one : { ...one, chosen })))
    }
    if (isUnknown || !verdict.holds) ways.push(way)
    return ways
  }

  #rewritten(args: readonly string[], way: OpenWay, around: Around): Way[] {
    const [source = '', replacement = '', flag] = args
    const { request } = way
    const result = this.#view.budget.ask((steps) => pattern(source, false).match(request.uri, steps))
    const isRedirect = flag === 'redirect' || flag === 'permanent' || /^(?:https?:\/\/|\$scheme)/.test(replacement)
    if (result === 'unknown') return isRedirect ? [{ route: 'none' }, way] : [{ route: 'unknown' }]
    if (!result.isMatch) return [way]
    if (isRedirect) return [{ route: 'none' }]
    const [path = '', query] = splitOnce(replacement, '?')
    const matched = { ...request, captures: result.captures }
    const uri = this.#view.value(path, matched, around)
    if (uri === undefined) return [{ route: 'unknown' }]
    // The query of the request follows that of the replacement.
    const added = query === undefined ? '' : this.#view.value(query, matched, around)
    const changed = { ...matched, uri, isInternal: true, query: request.query === '' ? added : undefined }
    if (flag === 'break') return [{ ...way, request: changed, isStopped: true, isChanged: false }]
    return [{ ...way, request: changed, isStopped: flag === 'last', isChanged: true }]
  }
}

/** No configuration defines this variable, so its value is unknown. */
const UNKNOWN_VALUE = '$drawbridge_unknown'
