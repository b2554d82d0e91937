/** A piece of nginx's configuration language, and where in the text it stands. */
export interface Token {
  readonly kind: 'word' | ';' | '{' | '}'
  readonly start: number
  readonly end: number
  readonly line: number
  /** A word that is neither quoted nor has anything escaped in it means what it says. */
  readonly isPlain: boolean
}

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

/** As nginx's own reader splits it, character by character: a text may be large, and a pattern's stack is not. */
export function* tokensIn(text: string): Generator<Token> {
  let line = 1
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (isBlank(code)) {
      if (code === LINE_FEED) line += 1
      at += 1
    } else if (code === HASH) {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
    } else {
      const token = signAt(code, at, line) ?? wordAt(text, at, line)
      yield token
      if (!token.isPlain) line += lineFeeds(text, token)
      at = token.end
    }
  }
}

/** What a word says. */
export function wordIn(text: string, { start, end, isPlain }: Token): string {
  if (isPlain) return text.slice(start, end)
  const written = isQuote(text.charCodeAt(start)) ? text.slice(start + 1, end - 1) : text.slice(start, end)
  return written.replaceAll(/\\(["'\\trn])/g, (_, escaped: string) => ESCAPED[escaped] ?? escaped)
}

const ESCAPED: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' }

function signAt(code: number, start: number, line: number): Token | undefined {
  const kind = code === SEMICOLON ? ';' : code === OPEN ? '{' : code === CLOSE ? '}' : undefined
  return kind && { kind, start, end: start + 1, line, isPlain: true }
}

const wordAt = (text: string, start: number, line: number): Token =>
  isQuote(text.charCodeAt(start))
    ? { kind: 'word', start, end: endOfQuotation(text, start, line), line, isPlain: false }
    : bareWordAt(text, start, line)

/** A bare word ends at white space, `;` or `{`, but the brace of `${name}` and escaped characters belong to it. */
function bareWordAt(text: string, start: number, line: number): Token {
  let isPlain = true
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) {
      isPlain = false
      at += 2
    } else if (code === DOLLAR && text.charCodeAt(at + 1) === OPEN) at += 2
    else if (isBlank(code) || code === SEMICOLON || code === OPEN) break
    else at += 1
  }
  return { kind: 'word', start, end: Math.min(at, text.length), line, isPlain }
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

const isQuote = (code: number): boolean => code === DOUBLE_QUOTE || code === SINGLE_QUOTE

function lineFeeds(text: string, { start, end }: Token): number {
  let count = 0
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
