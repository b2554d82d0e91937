import { asRange, byteSet, CLASSES, foldCase, inverted, POSIX } from './bytes.ts'

/** A part of a pattern. Sets have 256 entries, because nginx matches bytes. */
export type Node =
  | { readonly kind: 'set'; readonly set: Uint8Array }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'group'; readonly part: Node; readonly number: number; readonly name: string | undefined }
  | {
      readonly kind: 'repeat'
      readonly part: Node
      readonly least: number
      readonly most: number
      readonly isLazy: boolean
    }
  | { readonly kind: 'assert'; readonly what: Assertion }
  | { readonly kind: 'look'; readonly part: Node; readonly isNegated: boolean }

export type Assertion = 'start' | 'lineStart' | 'end' | 'lineEnd' | 'veryEnd' | 'wordEdge' | 'notWordEdge'

export interface ParsedPattern {
  readonly root: Node
  readonly groups: number
  /** False: the pattern matches at most what `root` matches. The original has syntax that cannot be evaluated in linear time. */
  readonly isExact: boolean
}

/** The pattern has syntax that is not known here. nginx may still accept it. */
export class UnknownSyntax extends Error {}

const EMPTY: Node = { kind: 'sequence', parts: [] }
const MAX_REPEAT = 65_535
const MAX_NESTED = 200

interface Flags {
  readonly isCaseless: boolean
  readonly isDotAll: boolean
  readonly isMultiline: boolean
  readonly isExtended: boolean
}

/** PCRE as nginx uses it, without UTF-8 mode. `pattern` has one character for each byte. Throws UnknownSyntax. */
export function parsePattern(pattern: string, isCaseless: boolean): ParsedPattern {
  const parser = new Parser(pattern)
  const root = parser.choice({ isCaseless, isDotAll: false, isMultiline: false, isExtended: false }, 0)
  if (!parser.isAtEnd) throw new UnknownSyntax()
  return { root, groups: parser.groups, isExact: parser.isExact }
}

class Parser {
  readonly #text: string
  #at = 0
  #flags: Flags | undefined
  groups = 0
  isExact = true

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  choice(flags: Flags, depth: number): Node {
    if (depth > MAX_NESTED) throw new UnknownSyntax()
    const options: Node[] = []
    let inForce = flags
    do {
      const parts: Node[] = []
      while (!this.isAtEnd && !this.#sees('|') && !this.#sees(')')) {
        const atom = this.#atom(inForce, depth)
        // An option such as (?i) holds up to the end of the group.
        if (this.#flags) inForce = this.#flags
        this.#flags = undefined
        if (atom) parts.push(this.#repeated(atom, inForce))
      }
      const [only] = parts
      options.push(parts.length === 1 && only ? only : { kind: 'sequence', parts })
    } while (this.#takes('|'))
    const [first] = options
    return options.length === 1 && first ? first : { kind: 'choice', options }
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

  #atom(flags: Flags, depth: number): Node | undefined {
    const character = this.#text.charAt(this.#at)
    this.#at += 1
    switch (character) {
      case '(':
        return this.#group(flags, depth)
      case '[':
        return this.#class(flags)
      case '\\':
        return this.#escape(flags)
      case '.':
        return { kind: 'set', set: flags.isDotAll ? CLASSES.any : CLASSES.notNewLine }
      case '^':
        return { kind: 'assert', what: flags.isMultiline ? 'lineStart' : 'start' }
      case '$':
        return { kind: 'assert', what: flags.isMultiline ? 'lineEnd' : 'end' }
      case '*':
      case '+':
      case '?':
        throw new UnknownSyntax()
      case '#':
        if (!flags.isExtended) return literal(character, flags)
        this.#matches(/[^\n]*/y)
        return undefined
      default:
        return flags.isExtended && /\s/.test(character) ? undefined : literal(character, flags)
    }
  }

  #group(flags: Flags, depth: number): Node | undefined {
    if (this.#sees('*')) throw new UnknownSyntax()
    if (!this.#takes('?')) return this.#captured(flags, depth, undefined)
    if (this.#matches(/#[^)]*\)/y)) return undefined
    const name = this.#matches(/P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)'/y)
    if (name) return this.#captured(flags, depth, name[1] ?? name[2])
    if (this.#takes('=')) return { kind: 'look', part: this.#rest(flags, depth), isNegated: false }
    if (this.#takes('!')) return this.#negativeLook(flags, depth)
    if (this.#takes('<=') || this.#takes('<!')) {
      this.#rest(flags, depth)
      this.isExact = false
      return EMPTY
    }
    if (this.#takes('>')) {
      this.isExact = false
      return this.#rest(flags, depth)
    }
    const options = this.#matches(/([imsx]*)(?:-([imsx]*))?([:)])/y)
    if (!options) throw new UnknownSyntax()
    const [, on = '', off = '', end] = options
    const changed = withOptions(withOptions(flags, on, true), off, false)
    if (end === ':') return this.#rest(changed, depth)
    this.#flags = changed
    return undefined
  }

  #captured(flags: Flags, depth: number, name: string | undefined): Node {
    this.groups += 1
    const number = this.groups
    return { kind: 'group', part: this.#rest(flags, depth), number, name }
  }

  /** What is not exact matches too much. Negated it would match too little, so it is left out. */
  #negativeLook(flags: Flags, depth: number): Node {
    const wasExact = this.isExact
    this.isExact = true
    const part = this.#rest(flags, depth)
    const isExact = this.isExact
    this.isExact = wasExact && isExact
    return isExact ? { kind: 'look', part, isNegated: true } : EMPTY
  }

  #rest(flags: Flags, depth: number): Node {
    const part = this.choice(flags, depth + 1)
    if (!this.#takes(')')) throw new UnknownSyntax()
    return part
  }

  #repeated(atom: Node, flags: Flags): Node {
    let part = atom
    for (;;) {
      if (flags.isExtended) this.#matches(/\s+/y)
      const found = this.#matches(/([*+?]|\{(\d{1,5})(?:(,)(\d{1,5})?)?\})([?+]?)/y)
      if (!found) return part
      const [, sign = '', low, comma, high, mode] = found
      const least = low === undefined ? (sign === '+' ? 1 : 0) : Number(low)
      const most =
        low === undefined
          ? sign === '?'
            ? 1
            : Number.POSITIVE_INFINITY
          : Number(high ?? (comma ? Number.POSITIVE_INFINITY : low))
      if (least > MAX_REPEAT || most < least) throw new UnknownSyntax()
      // A possessive repetition gives nothing back.
      if (mode === '+') this.isExact = false
      part = { kind: 'repeat', part, least, most, isLazy: mode === '?' }
    }
  }

  #escape(flags: Flags): Node | undefined {
    const character = this.#text.charAt(this.#at)
    const single = this.#singleByte(false)
    if (single !== undefined) return literal(String.fromCharCode(single), flags)
    this.#at += 1
    const set = CLASSES[character]
    if (set && /[dDwWsShHvVN]/.test(character)) return { kind: 'set', set }
    const what = ASSERTIONS[character]
    if (what) return { kind: 'assert', what }
    // The start of the match plays no part.
    if (character === 'K' || character === 'E') return undefined
    if (character === 'Q') return this.#quoted(flags)
    if (/[1-9]/.test(character)) return this.#backReference(/\d*/y)
    if (character === 'k') return this.#backReference(/\{\w+\}|<\w+>|'\w+'/y)
    throw new UnknownSyntax()
  }

  #quoted(flags: Flags): Node {
    const end = this.#text.indexOf('\\E', this.#at)
    const text = this.#text.slice(this.#at, end === -1 ? undefined : end)
    this.#at += text.length + (end === -1 ? 0 : 2)
    return { kind: 'sequence', parts: [...text].map((character) => literal(character, flags)) }
  }

  /** Any text may stand where an earlier group is repeated. */
  #backReference(rest: RegExp): Node {
    if (!this.#matches(rest)) throw new UnknownSyntax()
    this.isExact = false
    return {
      kind: 'repeat',
      part: { kind: 'set', set: CLASSES.any },
      least: 0,
      most: Number.POSITIVE_INFINITY,
      isLazy: false,
    }
  }

  /** After a backslash: the byte of an escape that means one byte. */
  #singleByte(isInClass: boolean): number | undefined {
    const hex = this.#matches(/x(?:\{([0-9a-fA-F]{1,2})\}|([0-9a-fA-F]{0,2}))/y)
    if (hex) return Number.parseInt(hex[1] ?? (hex[2] || '0'), 16)
    const octal = this.#matches(/0[0-7]{0,2}|o\{([0-7]{1,3})\}/y)
    if (octal) return Number.parseInt(octal[1] ?? octal[0], 8) & 255
    const character = this.#text.charAt(this.#at)
    if (isInClass && character === 'b') {
      this.#at += 1
      return 8
    }
    const control = CONTROLS[character]
    if (control === undefined && /[a-zA-Z0-9]/.test(character)) return undefined
    if (character === '') throw new UnknownSyntax()
    this.#at += 1
    return control ?? character.charCodeAt(0)
  }

  #class(flags: Flags): Node {
    const isNegated = this.#takes('^')
    const set = new Uint8Array(256)
    const add = (added: Uint8Array) => {
      for (let i = 0; i < 256; i += 1) set[i] = (set[i] ?? 0) | (added[i] ?? 0)
    }
    for (let isFirst = true; isFirst || !this.#sees(']'); isFirst = false) {
      if (this.isAtEnd) throw new UnknownSyntax()
      const low = this.#classItem()
      if (typeof low !== 'number') {
        add(low)
        continue
      }
      const isRange = this.#sees('-') && !this.#sees('-]') && this.#at + 1 < this.#text.length
      if (!isRange) {
        add(asRange(low, low))
        continue
      }
      this.#at += 1
      const high = this.#classItem()
      if (typeof high !== 'number') {
        // The hyphen before a class means itself.
        add(asRange(low, low))
        add(byteSet('-'))
        add(high)
      } else if (high < low) throw new UnknownSyntax()
      else add(asRange(low, high))
    }
    this.#at += 1
    const folded = flags.isCaseless ? foldCase(set) : set
    return { kind: 'set', set: isNegated ? inverted(folded) : folded }
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
    const character = this.#text.charAt(this.#at)
    this.#at += 1
    if (character !== '\\') return character.charCodeAt(0)
    const single = this.#singleByte(true)
    if (single !== undefined) return single
    const escaped = this.#text.charAt(this.#at)
    this.#at += 1
    const set = CLASSES[escaped]
    if (!set || !/[dDwWsShHvV]/.test(escaped)) throw new UnknownSyntax()
    return set
  }
}

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, e: 27, a: 7 }

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'start',
  G: 'start',
  Z: 'end',
  z: 'veryEnd',
  b: 'wordEdge',
  B: 'notWordEdge',
}

function literal(character: string, { isCaseless }: Flags): Node {
  const set = byteSet(character)
  return { kind: 'set', set: isCaseless ? foldCase(set) : set }
}

const withOptions = (flags: Flags, letters: string, value: boolean): Flags => ({
  isCaseless: letters.includes('i') ? value : flags.isCaseless,
  isDotAll: letters.includes('s') ? value : flags.isDotAll,
  isMultiline: letters.includes('m') ? value : flags.isMultiline,
  isExtended: letters.includes('x') ? value : flags.isExtended,
})
