import { type Token, tokensIn, UnreadableText, wordIn } from './nginx-tokens.ts'

export interface Directive {
  readonly name: string
  readonly args: readonly string[]
  /** The blocks around it, outermost first: `['http', 'server']`. */
  readonly context: readonly string[]
  /** From its name up to and including its `;` or `{`. */
  readonly start: number
  readonly end: number
}

/** What stands in a text, in its order. The first of the words is the directive's name. */
interface Visitor {
  directive(words: readonly Token[], end: number): void
  open(words: readonly Token[], end: number): void
  /** Comes after all that is in the block. */
  close(): void
}

/** Tells a visitor what stands in the text, as far as it is well-formed; then throws UnreadableText. */
export function visit(text: string, visitor: Visitor): void {
  let depth = 0
  let words: Token[] = []
  let line = 1
  for (const token of tokensIn(text)) {
    line = token.line
    if (token.kind === 'word') {
      words.push(token)
      continue
    }
    if (token.kind === '}') {
      if (words.length > 0 || depth === 0) throw new UnreadableText('a } stands where none can', line)
      depth -= 1
      visitor.close()
    } else if (words.length === 0) {
      throw new UnreadableText(`a ${token.kind} stands where a directive should`, line)
    } else if (token.kind === '{') {
      depth += 1
      visitor.open(words, token.end)
    } else {
      visitor.directive(words, token.end)
    }
    words = []
  }
  if (words.length > 0 || depth > 0) throw new UnreadableText('it ends too early', line)
}

/** Every directive in the order of the text, blocks before what is in them. Throws UnreadableText. */
export function directivesIn(text: string): Directive[] {
  const found: Directive[] = []
  const context: string[] = []
  const add = (words: readonly Token[], end: number): string => {
    const [name = '', ...args] = words.map((word) => wordIn(text, word))
    found.push({ name, args, context: [...context], start: words[0]?.start ?? end, end })
    return name
  }
  visit(text, {
    directive: add,
    open: (words, end) => context.push(add(words, end)),
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
