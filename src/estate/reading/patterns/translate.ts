import { asRange, byteSet, CLASSES, inverted, POSIX } from './bytes.ts'

export interface Translated {
  readonly source: string
  /** False: `source` matches everything that the pattern matches, and possibly more. */
  readonly isExact: boolean
  /** The pattern has `$` or `\Z`, which also match before a newline at the end. In `source` they match only at the end. */
  readonly hasEnd: boolean
}

/** The pattern has syntax that is not supported here. nginx may still accept it. */
export class UnknownSyntax extends Error {}

/** RE2 rejects more repetitions of one part. */
const MAX_REPEAT = 1_000
const MAX_NESTED = 200
/** Bytes above ASCII are characters without upper and lower case: nginx matches bytes. */
const HIGH_BYTES = 0xe000

/** One character for each byte of the text, as patterns of RE2 see it here. */
export const asCharacters = (text: string): string =>
  Buffer.from(text)
    .toString('latin1')
    .replaceAll(/[\x80-\xff]/g, (byte) => characterOf(byte.charCodeAt(0)))

/** The inverse of `asCharacters`. */
export const asText = (characters: string): string =>
  Buffer.from(
    characters.replaceAll(/[^\0-\x7f]/g, (one) => byteOf(one)),
    'latin1',
  ).toString()

const characterOf = (byte: number): string => String.fromCharCode(byte < 128 ? byte : HIGH_BYTES + byte)
const byteOf = (character: string): string => String.fromCharCode(character.charCodeAt(0) - HIGH_BYTES)

/** A PCRE pattern as nginx uses it, without UTF-8 mode, in the syntax of RE2. Throws UnknownSyntax. */
export function translate(pattern: string): Translated {
  const translator = new Translator(Buffer.from(pattern).toString('latin1'))
  const source = translator.choice(0)
  if (!translator.isAtEnd) throw new UnknownSyntax()
  return { source, isExact: translator.isExact, hasEnd: translator.hasEnd }
}

class Translator {
  readonly #text: string
  #at = 0
  isExact = true
  hasEnd = false

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  choice(depth: number): string {
    if (depth > MAX_NESTED) throw new UnknownSyntax()
    let translated = ''
    while (!this.isAtEnd && !this.#sees(')')) translated += this.#takes('|') ? '|' : this.#repeated(this.#atom(depth))
    return translated
  }

  #sees(text: string): boolean {
    return this.#text.startsWith(text, this.#at)
  }

  #takes(text: string): boolean {
    if (!this.#sees(text)) return false
    this.#at += text.length
    return true
  }

  #matches(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found) this.#at += found[0].length
    return found ?? undefined
  }

  #next(): string {
    if (this.isAtEnd) throw new UnknownSyntax()
    this.#at += 1
    return this.#text.charAt(this.#at - 1)
  }

  /** Empty for a part that consumes no character, such as a comment. */
  #atom(depth: number): string {
    const character = this.#next()
    if (character === '(') return this.#group(depth)
    if (character === '[') return this.#class()
    if (character === '\\') return this.#escape()
    if (character === '.' || character === '^') return character
    if (character === '$') return this.#end()
    if (/[*+?]/.test(character)) throw new UnknownSyntax()
    return literal(character.charCodeAt(0))
  }

  #end(): string {
    this.hasEnd = true
    return '\\z'
  }

  #group(depth: number): string {
    if (this.#sees('*')) throw new UnknownSyntax()
    if (!this.#takes('?')) return `(${this.#rest(depth)})`
    if (this.#matches(/#[^)]*\)/y)) return ''
    const name = this.#matches(/P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)'/y)
    if (name) return `(?P<${name[1] ?? name[2]}>${this.#rest(depth)})`
    if (this.#matches(/<?[=!]/y)) return this.#looked(depth)
    if (this.#takes('>')) {
      this.isExact = false
      return `(?:${this.#rest(depth)})`
    }
    const options = this.#matches(/([ims]*(?:-[ims]+)?)([:)])/y)
    if (!options) throw new UnknownSyntax()
    const [, flags = '', end] = options
    // In RE2, a line begins after each newline. In PCRE, no line begins after the last newline.
    if (flags.includes('m')) this.isExact = false
    if (end === ')') return flags === '' ? '' : `(?${flags})`
    return `(?${flags}:${this.#rest(depth)})`
  }

  /** RE2 has no look-around. Without the condition, the pattern matches a superset. */
  #looked(depth: number): string {
    this.#rest(depth)
    this.isExact = false
    return ''
  }

  #rest(depth: number): string {
    const part = this.choice(depth + 1)
    if (!this.#takes(')')) throw new UnknownSyntax()
    return part
  }

  #repeated(atom: string): string {
    let part = atom
    for (;;) {
      const found = this.#matches(/([*+?]|\{(\d{1,5})(?:(,)(\d{1,5})?)?\})([?+]?)/y)
      if (!found) return part
      const [, sign = '', low, comma, high, mode] = found
      if (high !== undefined && Number(high) < Number(low)) throw new UnknownSyntax()
      // A possessive repetition does not backtrack.
      if (mode === '+') this.isExact = false
      const times = low === undefined ? sign : this.#times(Number(low), Number(high ?? (comma ? Infinity : low)))
      part = `(?:${part})${times}${mode === '?' ? '?' : ''}`
    }
  }

  #times(least: number, most: number): string {
    const isTooMany = least > MAX_REPEAT || (most > MAX_REPEAT && most !== Infinity)
    if (isTooMany) this.isExact = false
    if (isTooMany || most === Infinity) return `{${Math.min(least, MAX_REPEAT)},}`
    return `{${least},${most}}`
  }

  #escape(): string {
    const single = this.#singleByte(false)
    if (single !== undefined) return literal(single)
    const character = this.#next()
    const set = CLASSES[character]
    if (set && /[dDwWsShHvVN]/.test(character)) return classOf(set, false)
    if (/[AbBz]/.test(character)) return `\\${character}`
    if (character === 'Z') return this.#end()
    if (character === 'G') return '\\A'
    // The start of the match does not matter here.
    if (character === 'K' || character === 'E') return ''
    if (character === 'Q') return this.#quoted()
    if (/[1-9]/.test(character)) return this.#backReference(/\d*/y)
    if (character === 'k') return this.#backReference(/\{\w+\}|<\w+>|'\w+'/y)
    throw new UnknownSyntax()
  }

  #quoted(): string {
    const end = this.#text.indexOf('\\E', this.#at)
    const text = this.#text.slice(this.#at, end === -1 ? undefined : end)
    this.#at += text.length + (end === -1 ? 0 : 2)
    return Array.from(text, (character) => literal(character.charCodeAt(0))).join('')
  }

  /** Replaces a back-reference by any text. */
  #backReference(rest: RegExp): string {
    if (!this.#matches(rest)) throw new UnknownSyntax()
    this.isExact = false
    return '(?s:.*)'
  }

  /** After a backslash: the byte of an escape that stands for one byte. */
  #singleByte(isInClass: boolean): number | undefined {
    const hex = this.#matches(/x(?:\{([0-9a-fA-F]{1,2})\}|([0-9a-fA-F]{0,2}))/y)
    if (hex) return Number.parseInt(hex[1] ?? (hex[2] || '0'), 16)
    const octal = this.#matches(/0[0-7]{0,2}|o\{([0-7]{1,3})\}/y)
    if (octal) return Number.parseInt(octal[1] ?? octal[0], 8) & 255
    if (isInClass && this.#takes('b')) return 8
    const character = this.#text.charAt(this.#at)
    const control = CONTROLS[character]
    if (control === undefined && /[a-zA-Z0-9]/.test(character)) return undefined
    this.#next()
    return control ?? character.charCodeAt(0)
  }

  #class(): string {
    const isNegated = this.#takes('^')
    const set = new Uint8Array(256)
    const add = (added: Uint8Array) => {
      for (let i = 0; i < 256; i += 1) set[i] = (set[i] ?? 0) | (added[i] ?? 0)
    }
    for (let isFirst = true; isFirst || !this.#sees(']'); isFirst = false) {
      const low = this.#classItem()
      const isRange = typeof low === 'number' && this.#sees('-') && !this.#sees('-]')
      if (!isRange) {
        add(typeof low === 'number' ? asRange(low, low) : low)
        continue
      }
      this.#next()
      const high = this.#classItem()
      if (typeof high === 'number') {
        if (high < low) throw new UnknownSyntax()
        add(asRange(low, high))
        continue
      }
      // A hyphen before a class is a literal hyphen.
      for (const each of [asRange(low, low), byteSet('-'), high]) add(each)
    }
    this.#next()
    return classOf(set, isNegated)
  }

  /** A byte, or the bytes of a class within the class. */
  #classItem(): number | Uint8Array {
    const posix = this.#matches(/\[:(\^?)([a-z]+):\]/y)
    if (posix) {
      const set = POSIX[posix[2] ?? '']
      if (!set) throw new UnknownSyntax()
      return posix[1] ? inverted(set) : set
    }
    if (this.#sees('[.') || this.#sees('[=')) throw new UnknownSyntax()
    const character = this.#next()
    if (character !== '\\') return character.charCodeAt(0)
    const single = this.#singleByte(true)
    if (single !== undefined) return single
    const escaped = this.#next()
    const set = CLASSES[escaped]
    if (!set || !/[dDwWsShHvV]/.test(escaped)) throw new UnknownSyntax()
    return set
  }
}

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, e: 27, a: 7 }

const hex = (byte: number): string => `\\x{${characterOf(byte).charCodeAt(0).toString(16)}}`

const literal = (byte: number): string => (/\w/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : hex(byte))

/** RE2 folds the case of a class before it negates it, as PCRE does. */
function classOf(set: Uint8Array, isNegated: boolean): string {
  let ranges = ''
  for (let low = set.indexOf(1); low >= 0; ) {
    const end = set.indexOf(0, low)
    const high = (end < 0 ? set.length : end) - 1
    // The characters for bytes above ASCII do not follow the ASCII characters.
    if (low < 128 && high >= 128) ranges += `${hex(low)}-${hex(127)}${hex(128)}-${hex(high)}`
    else ranges += `${hex(low)}-${hex(high)}`
    low = end < 0 ? -1 : set.indexOf(1, end)
  }
  if (ranges === '') return isNegated ? '(?s:.)' : '[^\\x{0}-\\x{10ffff}]'
  return `[${isNegated ? '^' : ''}${ranges}]`
}
