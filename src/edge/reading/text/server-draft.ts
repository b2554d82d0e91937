import { hostname } from 'node:os'
import { parseListens } from './listen.ts'
import type { Assignment, ProxyPass, ServerDraft, Statement } from './statements.ts'

/** How well a location matches a request for `/`. */
const RANK = { exactRoot: 0, root: 1, elsewhere: 2, conditional: 3 }

/** A null `to` means that the location has a `return`. */
interface RankedProxyPass extends Omit<ProxyPass, 'to'> {
  readonly to: string | null
  readonly rank: number
}

/** The content of a block, with or without its includes. */
type Inside<S extends Statement> = (block: S) => Iterable<S>

export function draftServer<S extends Statement>(server: S, path: string, inside: Inside<S>): ServerDraft {
  const names: (readonly string[])[] = []
  const listens: (readonly string[])[] = []
  const assignments: Assignment[] = []
  const proxyPasses: RankedProxyPass[] = []
  const gathered: string[] = []
  let isTls = false
  let isAnswered = false
  for (const statement of inside(server)) {
    const { name, args } = statement
    if (name === 'server_name') names.push(args)
    else if (name === 'listen') listens.push(args)
    else if (name === 'include') gathered.push(...args)
    else if (name === 'ssl') isTls = args[0] === 'on'
    else if (name === 'return') isAnswered = true
    else if (name === 'location') proxyPasses.push(...locationProxyPasses(statement, inside))
    else assignments.push(...assignmentsOf(statement, inside))
  }
  return {
    path,
    line: server.line,
    // flat() returns an array of the exact size. That saves memory for thousands of servers.
    names: names.flat().map(canonicalName),
    listen: parseListens(listens, isTls),
    gathered: gathered.length === 0 ? NO_KINDS : gathered,
    proxyPass: isAnswered ? undefined : nearest(proxyPasses, assignments),
  }
}

const NO_KINDS: readonly string[] = []

/** Names are compared in lower case. A pattern has its own rules for case. */
const canonicalName = (name: string): string => {
  if (name.startsWith('~')) return name
  return (name === '$hostname' ? hostname() : name).toLowerCase()
}

/** The server's own assignments come before those of the location. */
function nearest(candidates: readonly RankedProxyPass[], before: readonly Assignment[]): ProxyPass | undefined {
  const [first] = candidates.toSorted((a, b) => a.rank - b.rank)
  if (!first || first.to === null) return undefined
  // Most have no variable. A shared empty list saves memory for thousands of servers.
  return { to: first.to, assignments: first.to.includes('$') ? [...before, ...first.assignments] : NONE }
}

const NONE: readonly Assignment[] = []

/** Of a location and its nested locations, in the order of the text. */
function locationProxyPasses<S extends Statement>(location: S, inside: Inside<S>): RankedProxyPass[] {
  const rank = rankOf(location.args)
  const assignments: Assignment[] = []
  const within: RankedProxyPass[] = []
  const own: RankedProxyPass[] = []
  for (const statement of inside(location)) {
    const { name, args } = statement
    if (name === 'location') within.push(...locationProxyPasses(statement, inside))
    else if (name === 'return') own.unshift({ to: null, assignments, rank })
    else if (name === 'proxy_pass') own.push({ to: args[0] ?? '', assignments, rank })
    else if (name === 'if' || name === 'limit_except')
      within.push(...conditionalProxyPasses(statement, inside, assignments))
    assignments.push(...assignmentsOf(statement, inside))
  }
  // A location with `return` counts only when it is for `/`.
  const counted = own.slice(0, 1).filter(({ to }) => to !== null || rank < RANK.elsewhere)
  return [...counted, ...within]
}

function conditionalProxyPasses<S extends Statement>(
  condition: S,
  inside: Inside<S>,
  assignments: readonly Assignment[],
): RankedProxyPass[] {
  return [...inside(condition)]
    .filter(({ name }) => name === 'proxy_pass')
    .map(({ args: [to = ''] }) => ({ to, assignments, rank: RANK.conditional }))
}

function rankOf(args: readonly string[]): number {
  const path = args.at(-1)
  if (path !== '/' || args.length > 2) return RANK.elsewhere
  if (args.length === 1 || args[0] === '^~') return RANK.root
  return args[0] === '=' ? RANK.exactRoot : RANK.elsewhere
}

function assignmentsOf<S extends Statement>(statement: S, inside: Inside<S>): Assignment[] {
  const { name, args } = statement
  if (name === 'set') return [{ name: variableName(args[0]), value: args[1] ?? '', isConditional: false }]
  if (name !== 'if') return []
  return [...inside(statement)]
    .flatMap((inner) => assignmentsOf(inner, inside))
    .map((assignment) => ({ ...assignment, isConditional: true }))
}

/** Without the dollar sign. */
export const variableName = (text = ''): string => text.replace(/^\$/, '').toLowerCase()
