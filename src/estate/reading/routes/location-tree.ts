import type { Steps } from '../patterns/pattern.ts'
import { type Pattern, pattern, type StepBudget } from '../patterns/pattern.ts'
import type { RouteDirective } from './directive.ts'

/** The locations of one level, in the form in which nginx searches them. */
interface Level {
  readonly exact: ReadonlyMap<string, RouteDirective>
  /** The longest first. */
  readonly prefixes: readonly { readonly path: string; readonly isFinal: boolean; readonly location: RouteDirective }[]
  readonly patterns: readonly { readonly pattern: Pattern; readonly location: RouteDirective }[]
}

export interface FoundLocation {
  /** The locations around the chosen one, outermost first, and the chosen one. Empty: the server itself answers. */
  readonly path: readonly RouteDirective[]
  readonly captures: ReadonlyMap<string, string> | undefined
}

/** The location that nginx chooses for a path. Undefined if a pattern that may decide cannot be evaluated. */
export function findLocation(
  statements: readonly RouteDirective[],
  uri: string,
  budget: StepBudget,
): FoundLocation | undefined {
  return budget.ask((steps) => search(statements, uri, steps)?.found)
}

interface Searched {
  readonly found: FoundLocation
  /** An exact path or a pattern ends the search. */
  readonly isFinal: boolean
}

const NOTHING: Searched = { found: { path: [], captures: undefined }, isFinal: false }

function search(statements: readonly RouteDirective[], uri: string, steps: Steps): Searched | undefined {
  const level = levelOf(statements)
  const exact = level.exact.get(uri)
  if (exact) return { found: { path: [exact], captures: undefined }, isFinal: true }
  const prefix = level.prefixes.find(({ path }) => uri.startsWith(path))
  const nested = prefix ? search(prefix.location.block ?? [], uri, steps) : NOTHING
  if (!nested) return undefined
  const within = prefix ? inside(prefix.location, nested) : NOTHING
  if (within.isFinal || prefix?.isFinal) return within
  for (const { pattern: one, location } of level.patterns) {
    const result = one.match(uri, steps)
    if (result === 'unknown') return undefined
    if (!result.isMatch) continue
    const deeper = search(location.block ?? [], uri, steps)
    if (!deeper) return undefined
    const { found } = inside(location, deeper)
    return { found: { ...found, captures: found.captures ?? result.captures }, isFinal: true }
  }
  return within
}

const inside = (location: RouteDirective, { found, isFinal }: Searched): Searched => ({
  found: { path: [location, ...found.path], captures: found.captures },
  isFinal,
})

/** The content of a named location; undefined when there is none. */
export const namedLocation = (statements: readonly RouteDirective[], name: string): RouteDirective | undefined =>
  statements.find((statement) => statement.name === 'location' && statement.args[0] === name)

const levels = new WeakMap<readonly RouteDirective[], Level>()

function levelOf(statements: readonly RouteDirective[]): Level {
  const known = levels.get(statements) ?? newLevel(statements)
  levels.set(statements, known)
  return known
}

function newLevel(statements: readonly RouteDirective[]): Level {
  const exact = new Map<string, RouteDirective>()
  const prefixes: { path: string; isFinal: boolean; location: RouteDirective }[] = []
  const patterns: { pattern: Pattern; location: RouteDirective }[] = []
  for (const location of statements) {
    if (location.name !== 'location') continue
    const [sign, path] = signAndPath(location.args)
    if (path === undefined || path.startsWith('@')) continue
    if (sign === '=') exact.set(path, exact.get(path) ?? location)
    else if (sign === '~' || sign === '~*') patterns.push({ pattern: pattern(path, sign === '~*'), location })
    else prefixes.push({ path, isFinal: sign === '^~', location })
  }
  return { exact, prefixes: prefixes.sort((a, b) => b.path.length - a.path.length), patterns }
}

/** The sign may be written without a space: `location =/`. */
function signAndPath([first = '', second]: readonly string[]): [sign: string, path: string | undefined] {
  if (second !== undefined) return [first, second]
  const [, sign = '', path] = /^(=|\^~|~\*|~)?([\s\S]*)$/.exec(first) ?? []
  return [sign, path]
}
