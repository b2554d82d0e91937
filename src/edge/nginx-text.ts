/** A piece of nginx's configuration language, and where in the text it stands. */
type Token = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: ';' | '{' | '}' }
)

export interface Directive {
  readonly name: string
  readonly args: readonly string[]
  /** The blocks around it, outermost first: `['http', 'server']`. */
  readonly context: readonly string[]
  /** From its name up to and including its `;` or `{`. */
  readonly start: number
  readonly end: number
}

export class UnreadableText extends Error {}

/** Every directive in the order of the text, blocks before what is in them. Throws UnreadableText. */
export function directivesIn(text: string): Directive[] {
  const found: Directive[] = []
  const context: string[] = []
  let words: Extract<Token, { kind: 'word' }>[] = []
  for (const token of tokensIn(text)) {
    if (token.kind === 'word') {
      words.push(token)
      continue
    }
    const [name, ...args] = words
    words = []
    if (token.kind === '}') {
      if (name || context.pop() === undefined) throw new UnreadableText('a } stands where none can')
      continue
    }
    if (!name) throw new UnreadableText(`a ${token.kind} stands where a directive should`)
    const texts = args.map((word) => word.text)
    found.push({ name: name.text, args: texts, context: [...context], start: name.start, end: token.end })
    if (token.kind === '{') context.push(name.text)
  }
  if (words.length > 0 || context.length > 0) throw new UnreadableText('it ends too early')
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

function* tokensIn(text: string): Generator<Token> {
  const skipped = /(?:\s|#[^\n]*)*/y
  for (let at = 0; ; ) {
    skipped.lastIndex = at
    at += skipped.exec(text)?.[0].length ?? 0
    const first = text[at]
    if (first === undefined) return
    const token = first === ';' || first === '{' || first === '}' ? sign(first, at) : word(text, at)
    yield token
    at = token.end
  }
}

const sign = (kind: ';' | '{' | '}', start: number): Token => ({ kind, start, end: start + 1 })

const QUOTED = /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'/y
/** A bare word ends at white space, `;` or `{`, but `${name}` and escaped characters belong to it. */
const BARE = /(?:\$\{[^}]*\}|\\[\s\S]|[^\s;{\\])+/y

function word(text: string, start: number): Token {
  const pattern = text[start] === '"' || text[start] === "'" ? QUOTED : BARE
  pattern.lastIndex = start
  const match = pattern.exec(text)
  if (!match) throw new UnreadableText('a quotation has no end')
  const [whole, double, single] = match
  return { kind: 'word', text: unescaped(double ?? single ?? whole), start, end: start + whole.length }
}

const unescaped = (text: string): string => text.replaceAll(/\\(["'\\])/g, '$1')
