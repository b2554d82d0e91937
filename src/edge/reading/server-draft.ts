import type { Included, Located } from './included.ts'
import { type Listening, parseListen } from './listen.ts'

/** `set $name value`. One within an `if` may happen or not. */
interface Assignment {
  readonly name: string
  readonly value: string
  readonly isConditional: boolean
}

/** Where a location sends its requests, and what was set on the way there. `to` null: it answers by itself. */
export interface Passing {
  readonly to: string | null
  readonly assignments: readonly Assignment[]
}

/** A server block as it is written, before variables, upstreams and other blocks are looked at. */
export interface ServerDraft {
  readonly path: string
  readonly line: number
  readonly names: readonly string[]
  readonly listen: readonly Listening[]
  /** Undefined: it proxies nowhere. */
  readonly passing: Passing | undefined
}

/** How near a location is to `/`: what a visitor of the host alone would ask. */
const RANK = { exactRoot: 0, root: 1, elsewhere: 2, conditional: 3 }

interface RankedPassing extends Passing {
  readonly rank: number
}

export function draftServer(server: Located, included: Included): ServerDraft {
  const names: string[] = []
  const listen: Listening[] = []
  const assignments: Assignment[] = []
  const passings: RankedPassing[] = []
  let isTls = false
  let isAnswered = false
  for (const statement of included.in(server)) {
    const { name, args } = statement
    if (name === 'server_name') names.push(...args)
    else if (name === 'listen') listen.push(...parseListen(args))
    else if (name === 'ssl') isTls = args[0] === 'on'
    else if (name === 'return') isAnswered = true
    else if (name === 'location') passings.push(...locationPassings(statement, included))
    else assignments.push(...assignmentsOf(statement, included))
  }
  const passing = isAnswered ? undefined : nearest(passings)
  return {
    path: server.path,
    line: server.line,
    names,
    listen: isTls ? listen.map((place) => ({ ...place, isTls })) : listen,
    passing: passing && { to: passing.to, assignments: [...assignments, ...passing.assignments] },
  }
}

const nearest = (passings: readonly RankedPassing[]): Passing | undefined => {
  const [first] = passings.toSorted((a, b) => a.rank - b.rank)
  return first?.to === null ? undefined : first
}

/** Of a location and of those within it, in the order of the text. */
function locationPassings(location: Located, included: Included): RankedPassing[] {
  const rank = rankOf(location.args)
  const assignments: Assignment[] = []
  const within: RankedPassing[] = []
  const own: RankedPassing[] = []
  for (const statement of included.in(location)) {
    const { name, args } = statement
    if (name === 'location') within.push(...locationPassings(statement, included))
    else if (name === 'return') own.unshift({ to: null, assignments, rank })
    else if (name === 'proxy_pass') own.push({ to: args[0] ?? '', assignments, rank })
    else if (name === 'if' || name === 'limit_except')
      within.push(...conditionalPassings(statement, included, assignments))
    assignments.push(...assignmentsOf(statement, included))
  }
  // A location that answers by itself counts only where it stands for the whole host.
  const counted = own.slice(0, 1).filter(({ to }) => to !== null || rank < RANK.elsewhere)
  return [...counted, ...within]
}

function conditionalPassings(
  condition: Located,
  included: Included,
  assignments: readonly Assignment[],
): RankedPassing[] {
  return [...included.in(condition)]
    .filter(({ name }) => name === 'proxy_pass')
    .map(({ args: [to = ''] }) => ({ to, assignments, rank: RANK.conditional }))
}

function rankOf(args: readonly string[]): number {
  const path = args.at(-1)
  if (path !== '/' || args.length > 2) return RANK.elsewhere
  if (args.length === 1 || args[0] === '^~') return RANK.root
  return args[0] === '=' ? RANK.exactRoot : RANK.elsewhere
}

function assignmentsOf(statement: Located, included: Included): Assignment[] {
  const { name, args } = statement
  if (name === 'set') return [{ name: variableName(args[0]), value: args[1] ?? '', isConditional: false }]
  if (name !== 'if') return []
  return [...included.in(statement)]
    .flatMap((inner) => assignmentsOf(inner, included))
    .map((assignment) => ({ ...assignment, isConditional: true }))
}

/** `$name` without its sign. */
export const variableName = (text = ''): string => text.replace(/^\$/, '').toLowerCase()
