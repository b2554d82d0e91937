import { isLuaBlock } from './lua.ts'
import { Tokens, UnreadableText } from './tokens.ts'

export interface Directive {
  readonly name: string
  readonly args: readonly string[]
  /** The blocks around it, outermost first: `['http', 'server']`. */
  readonly context: readonly string[]
  /** From its name up to and including its `;` or `{`. */
  readonly start: number
  readonly end: number
}

/** From a directive's name up to and including its `;` or `{`. */
interface Span {
  readonly start: number
  readonly end: number
  readonly line: number
}

/** Receives the directives of a text in order. */
interface Visitor {
  /** Whether the visitor needs the arguments of this directive. */
  wants(name: string): boolean
  directive(name: string, args: readonly string[], span: Span): void
  /** Called for every block, wanted or not. */
  open(name: string, args: readonly string[], span: Span): void
  close(): void
}

/** Callers process blocks recursively, so the depth is limited. */
const MAX_DEPTH = 200

/** Throws UnreadableText at the first syntax error, after the visitor has received everything before it. */
export function visit(text: string, visitor: Visitor): void {
  const tokens = new Tokens(text)
  let depth = 0
  while (tokens.next()) {
    if (tokens.kind === '}') {
      if (depth === 0) throw new UnreadableText('a } has no matching {', tokens.line)
      depth -= 1
      visitor.close()
    } else if (visitDirective(tokens, visitor)) depth += 1
    if (depth > MAX_DEPTH) throw new UnreadableText('blocks are nested too deeply', tokens.line)
  }
  if (depth > 0) throw new UnreadableText('the file ends inside a block or a directive', tokens.line)
}

/** The current token must be the directive's name. True when a block of directives begins. */
function visitDirective(tokens: Tokens, visitor: Visitor): boolean {
  const { kind, start, line } = tokens
  if (kind !== 'word') throw new UnreadableText(`a ${kind} is in the place of a directive`, line)
  const name = tokens.word()
  const isWanted = visitor.wants(name)
  const args: string[] = []
  while (tokens.next()) {
    if (tokens.kind === '}') throw new UnreadableText('a } has no matching {', tokens.line)
    if (tokens.kind === 'word') {
      if (isWanted) args.push(tokens.word())
      continue
    }
    const span = { start, end: tokens.end, line }
    if (tokens.kind === '{') {
      visitor.open(name, args, span)
      if (!isLuaBlock(name)) return true
      tokens.skipLua()
      visitor.close()
    } else if (isWanted) visitor.directive(name, args, span)
    return false
  }
  throw new UnreadableText('the file ends inside a block or a directive', tokens.line)
}

/** Every directive in the order of the text; a block comes before its content. Throws UnreadableText. */
export function directivesIn(text: string): Directive[] {
  const found: Directive[] = []
  const context: string[] = []
  const directive: Visitor['directive'] = (name, args, { start, end }) => {
    found.push({ name, args, context: [...context], start, end })
  }
  visit(text, {
    wants: () => true,
    directive,
    open(name, args, span) {
      directive(name, args, span)
      context.push(name)
    },
    close: () => context.pop(),
  })
  return found
}

/** Replaces some directives. A replacement gets as many lines as the original, so that line numbers do not change. */
export function rewrite(text: string, replace: (directive: Directive) => string | undefined): string {
  let result = ''
  let done = 0
  for (const directive of directivesIn(text)) {
    const replacement = replace(directive)
    if (replacement === undefined) continue
    const replaced = text.slice(directive.start, directive.end)
    result += text.slice(done, directive.start) + replacement + '\n'.repeat(replaced.split('\n').length - 1)
    done = directive.end
  }
  return result + text.slice(done)
}
