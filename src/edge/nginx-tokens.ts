/** A piece of nginx's configuration language, and where in the text it stands. */
export type Token = Place & ({ readonly kind: 'word'; readonly text: string } | { readonly kind: ';' | '{' | '}' })

interface Place {
  readonly start: number
  readonly end: number
  readonly line: number
}

export type Word = Extract<Token, { kind: 'word' }>

/** The message never holds a word of the text. */
export class UnreadableText extends Error {
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.line = line
  }
}

const LINE_FEED = 10
const SPACE = 32
const DOUBLE_QUOTE = 34
const HASH = 35
const DOLLAR = 36
const SINGLE_QUOTE = 39
const SEMICOLON = 59
const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125
const SIGNS = new Map([
  [SEMICOLON, ';'],
  [OPEN, '{'],
  [CLOSE, '}'],
] as const)

/** As nginx's own reader splits it, character by character: a text may be large, and a pattern's stack is not. */
export function* tokensIn(text: string): Generator<Token> {
  let line = 1
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (isBlank(code)) {
      if (code === LINE_FEED) line += 1
      at += 1
    } else if (code === HASH) {
      at = orEnd(text.indexOf('\n', at), text)
    } else {
      const kind = SIGNS.get(code as typeof SEMICOLON)
      const token: Token = kind ? { kind, start: at, end: at + 1, line } : wordAt(text, at, line)
      yield token
      if (!kind) line += lineFeeds(text, token)
      at = token.end
    }
  }
}

function wordAt(text: string, start: number, line: number): Word {
  const first = text.charCodeAt(start)
  const isQuoted = first === DOUBLE_QUOTE || first === SINGLE_QUOTE
  const end = isQuoted ? endOfQuotation(text, start, line) : endOfBareWord(text, start)
  const content = isQuoted ? text.slice(start + 1, end - 1) : text.slice(start, end)
  return { kind: 'word', text: unescaped(content), start, end, line }
}

/** A bare word ends at white space, `;` or `{`, but the brace of `${name}` and escaped characters belong to it. */
function endOfBareWord(text: string, start: number): number {
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH || (code === DOLLAR && text.charCodeAt(at + 1) === OPEN)) at += 2
    else if (isBlank(code) || code === SEMICOLON || code === OPEN) return at
    else at += 1
  }
  return text.length
}

function endOfQuotation(text: string, start: number, line: number): number {
  const quote = text.charCodeAt(start)
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at += 1
    else if (code === quote) {
      if (/[^ \t\r\n;{)]/.test(text.charAt(at + 1))) throw new UnreadableText('a quotation ends within a word', line)
      return at + 1
    }
  }
  throw new UnreadableText('a quotation has no end', line)
}

const isBlank = (code: number): boolean => code === SPACE || code === LINE_FEED || code === 9 || code === 13

const orEnd = (index: number, text: string): number => (index === -1 ? text.length : index)

function lineFeeds(text: string, { start, end }: Place): number {
  let count = 0
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

const ESCAPED: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' }

const unescaped = (text: string): string =>
  text.includes('\\') ? text.replaceAll(/\\(["'\\trn])/g, (_, escaped: string) => ESCAPED[escaped] ?? escaped) : text
