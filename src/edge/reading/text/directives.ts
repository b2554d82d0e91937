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

/** Is told what stands in a text, in its order. */
interface Visitor {
  /** Whether it wants to know what else a directive says. */
  wants(name: string): boolean
  directive(name: string, args: readonly string[], span: Span): void
  /** A block begins, wanted or not. */
  open(name: string, args: readonly string[], span: Span): void
  close(): void
}

/** Whoever walks through blocks has a stack that ends. */
const MAX_DEPTH = 200

/** Tells a visitor what stands in the text, as far as it is well-formed; then throws UnreadableText. */
export function visit(text: string, visitor: Visitor): void {
  const tokens = new Tokens(text)
  let depth = 0
  while (tokens.next()) {
    if (tokens.kind === '}') {
      if (depth === 0) throw new UnreadableText('a } stands where none can', tokens.line)
      depth -= 1
      visitor.close()
    } else if (visitDirective(tokens, visitor) === '{') depth += 1
    if (depth > MAX_DEPTH) throw new UnreadableText('blocks are nested too deeply', tokens.line)
  }
  if (depth > 0) throw new UnreadableText('it ends too early', tokens.line)
}

/** From its name, which is the current token, to its end. */
function visitDirective(tokens: Tokens, visitor: Visitor): ';' | '{' {
  const { kind, start, line } = tokens
  if (kind !== 'word') throw new UnreadableText(`a ${kind} stands where a directive should`, line)
  const name = tokens.word()
  const isWanted = visitor.wants(name)
  const args: string[] = []
  while (tokens.next()) {
    if (tokens.kind === '}') throw new UnreadableText('a } stands where none can', tokens.line)
    if (tokens.kind === 'word') {
      if (isWanted) args.push(tokens.word())
      continue
    }
    if (tokens.kind === '{') visitor.open(name, args, { start, end: tokens.end, line })
    else if (isWanted) visitor.directive(name, args, { start, end: tokens.end, line })
    return tokens.kind
  }
  throw new UnreadableText('it ends too early', tokens.line)
}

/** Every directive in the order of the text, blocks before what is in them. Throws UnreadableText. */
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

/** The text with some directives written anew. Lines keep their numbers: a replacement has as many as what it replaces. */
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
