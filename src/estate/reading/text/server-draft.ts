import { hostname } from 'node:os'
import type { StepBudget } from '../patterns/pattern.ts'
import { RouteNeedsMore, simpleRoute } from '../routes/simple-route.ts'
import { parseListens } from './listen.ts'
import type { ServerDraft, Statement } from './statements.ts'

/** The content of a block, with or without its includes. */
type Inside<S extends Statement> = (block: S) => Iterable<S>

export function draftServer<S extends Statement>(
  server: S,
  path: string,
  inside: Inside<S>,
  budget: StepBudget,
): ServerDraft {
  const names: (readonly string[])[] = []
  const listens: (readonly string[])[] = []
  const gathered: string[] = []
  const routing: Statement[] = []
  let isTls: boolean | undefined
  for (const statement of inside(server)) {
    const { name, args } = statement
    if (name === 'server_name') names.push(args)
    else if (name === 'listen') listens.push(args)
    else if (name === 'include') gathered.push(...args)
    else if (name === 'ssl') isTls = args[0] === 'on'
    else routing.push(plain(statement, inside))
  }
  return {
    path,
    line: server.line,
    // flat() returns an array of the exact size. That saves memory for thousands of servers.
    names: names.flat().map(canonicalName),
    listen: parseListens(listens, isTls ?? false),
    ...(isTls === false && { hasSslOff: true }),
    gathered: gathered.length === 0 ? NO_KINDS : gathered,
    ...routeOf(routing, budget),
  }
}

/** The route of most servers depends only on their own statements. Those statements are dropped to save memory. */
function routeOf(routing: readonly Statement[], budget: StepBudget): Pick<ServerDraft, 'route' | 'routing'> {
  try {
    return { route: simpleRoute(routing, budget) }
  } catch (error) {
    if (!(error instanceof RouteNeedsMore)) throw error
    return { route: 'unknown', routing }
  }
}

/** The statement with its includes replaced by their content. */
function plain<S extends Statement>(statement: S, inside: Inside<S>): Statement {
  const { name, args, line, block } = statement
  if (!block) return { name, args, line, block }
  return { name, args, line, block: Array.from(inside(statement), (inner) => plain(inner, inside)) }
}

const NO_KINDS: readonly string[] = []

/** Names are compared in lower case. A pattern has its own rules for case. */
const canonicalName = (name: string): string => {
  if (name.startsWith('~')) return name
  return (name.toLowerCase() === '$hostname' ? hostname() : name).toLowerCase()
}

/** Without the dollar sign. */
export const variableName = (text = ''): string => text.replace(/^\$/, '').toLowerCase()
