import { endOfLua } from './lua.ts'

/** The message is a clause that never contains text of the configuration. */
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

/**
 * Splits nginx's configuration language into tokens by nginx's own rules. It works character by character, because a regular
 * expression would overflow its stack on a large text. It creates no object per token, because there may be a million.
 */
export class Tokens {
  /** The fields up to `line` describe the current token. */
  kind: 'word' | ';' | '{' | '}' = ';'
  start = 0
  end = 0
  line = 1
  readonly #text: string
  /** Whether the word has neither quotes nor escapes. */
  #isPlain = true
  #lineAtEnd = 1

  constructor(text: string) {
    this.#text = text
  }

  /** Moves to the next token. False at the end of the text. Throws UnreadableText. */
  next(): boolean {
    this.#skipBlanks()
    if (this.start >= this.#text.length) return false
    const code = this.#text.charCodeAt(this.start)
    this.#isPlain = true
    if (code === SEMICOLON || code === OPEN || code === CLOSE) {
      this.kind = code === SEMICOLON ? ';' : code === OPEN ? '{' : '}'
      this.end = this.start + 1
      return true
    }
    this.kind = 'word'
    this.end = isQuote(code) ? this.#endOfQuotation(code) : this.#endOfBareWord()
    if (!this.#isPlain) this.#countLines()
    return true
  }

  /** The current word without quotes and escapes. */
  word(): string {
    const written = this.#text.slice(this.start, this.end)
    if (this.#isPlain) return written
    const bare = isQuote(written.charCodeAt(0)) ? written.slice(1, -1) : written
    return bare.replaceAll(/\\(["'\\trn])/g, (_, escaped: string) => ESCAPED[escaped] ?? escaped)
  }

  /** After a `{`: moves behind the `}` that ends its block of Lua. Throws UnreadableText. */
  skipLua(): void {
    const end = endOfLua(this.#text, this.end)
    if (end === undefined) throw this.#unreadable('a block of Lua is not closed')
    this.start = this.end
    this.end = end
    this.#countLines()
  }

  /** Skips white space and comments. */
  #skipBlanks(): void {
    const text = this.#text
    let at = this.end
    let line = this.#lineAtEnd
    for (; at < text.length; at += 1) {
      let code = text.charCodeAt(at)
      if (code === HASH) {
        const end = text.indexOf('\n', at)
        at = end === -1 ? text.length : end
        code = LINE_FEED
      }
      if (!isBlank(code)) break
      if (code === LINE_FEED) line += 1
    }
    this.start = at
    this.line = line
    this.#lineAtEnd = line
  }

  /** A bare word ends at white space, `;` or `{`. Braces after `$` and escaped characters belong to the word. */
  #endOfBareWord(): number {
    const text = this.#text
    let at = this.start
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (code === BACKSLASH) {
        this.#isPlain = false
        at += 2
      } else if (code === DOLLAR) {
        at += 1
        while (text.charCodeAt(at) === OPEN) at += 1
      } else if (isBlank(code) || code === SEMICOLON || code === OPEN) return at
      else at += 1
    }
    return text.length
  }

  #endOfQuotation(quote: number): number {
    const text = this.#text
    this.#isPlain = false
    for (let at = this.start + 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code === BACKSLASH) at += 1
      else if (code === quote) {
        if (/[^ \t\r\n;{)]/.test(text.charAt(at + 1))) throw this.#unreadable('a closing quote is followed by text')
        return at + 1
      }
    }
    throw this.#unreadable('a quote is not closed')
  }

  #countLines(): void {
    const text = this.#text
    for (let at = text.indexOf('\n', this.start); at !== -1 && at < this.end; at = text.indexOf('\n', at + 1)) {
      this.#lineAtEnd += 1
    }
  }

  #unreadable(message: string): UnreadableText {
    return new UnreadableText(message, this.line)
  }
}

const ESCAPED: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' }

const isBlank = (code: number): boolean => code === SPACE || code === LINE_FEED || code === 9 || code === 13

const isQuote = (code: number): boolean => code === DOUBLE_QUOTE || code === SINGLE_QUOTE
