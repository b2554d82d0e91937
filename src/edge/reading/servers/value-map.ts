import { pattern } from '../patterns/pattern.ts'
import { NameIndex } from './name-index.ts'

/** `map $source $variable { … }` as plain data. */
export interface MapText {
  readonly source: string
  readonly default: string
  readonly hasWildcards: boolean
  /** Keys and values in the order of the configuration. */
  readonly entries: readonly (readonly [key: string, value: string])[]
  /** The kinds of included files whose entries it has, too. See `KnownIncludes`. */
  readonly gathered: readonly string[]
}

/** The value of a key in the gathered files of a kind. */
export type GatheredValue = (kind: string, key: string) => string | undefined

export class ValueMap {
  readonly #text: Omit<MapText, 'entries'>
  readonly #index = new NameIndex<string>()

  constructor({ entries, ...text }: MapText) {
    this.#text = text
    for (const [name, value] of entries) {
      if (isPattern(name)) this.#index.addPattern(patternOf(name), value)
      else this.#add(name.replace(/^\\/, '').toLowerCase(), value)
    }
  }

  value(lookup: Lookup, gathered: GatheredValue): string | undefined {
    const source = known(this.#text.source, lookup)
    if (source === undefined) return undefined
    const found = this.#find(source, gathered)
    return found === UNKNOWN ? undefined : known(found ?? this.#text.default, lookup)
  }

  /** Patterns see the source in its own case. */
  #find(source: string, gathered: GatheredValue): string | undefined {
    const key = source.toLowerCase()
    for (const kind of this.#text.gathered) {
      const value = gathered(kind, key)
      if (value !== undefined) return value
    }
    const found = this.#index.find(key, source)
    return found?.how === 'unknown' ? UNKNOWN : found?.value
  }

  #add(key: string, value: string): void {
    if (this.#text.hasWildcards) this.#index.add(key, value)
    else this.#index.addExact(key, value)
  }
}

const isPattern = (name: string): boolean => name.startsWith('~')

const patternOf = (name: string) => pattern(name.replace(/^~\*?/, ''), name.startsWith('~*'))

/** The value of a variable; undefined when it depends on the request. */
export type Lookup = (name: string) => string | undefined

/** Marks an unknown value in a text. No configuration can contain this character. */
export const UNKNOWN = '\0'

/** The limit of nginx. It also ends a text that doubles itself. */
const MAX_LENGTH = 4096

/** A capture has one digit: in `$1index.php` it is `$1`. */
const VARIABLE = /\$(?:\{(\w+)\}|([1-9]|[a-z_]\w*))/gi

const ONE_VARIABLE = /^\$[a-z_]\w*$/i

/** The names of the variables in a text, without the dollar sign. */
export const variablesIn = (text: string): string[] =>
  [...text.matchAll(VARIABLE)].map(([, braced, bare]) => (braced ?? bare ?? '').toLowerCase())

/** Replaces `$name` and `${name}`. */
export function filledIn(text: string, lookup: Lookup): string {
  if (!text.includes('$')) return text
  if (text.length > MAX_LENGTH) return UNKNOWN
  if (ONE_VARIABLE.test(text)) return lookup(text.slice(1).toLowerCase()) ?? UNKNOWN
  return text.replaceAll(
    VARIABLE,
    (_, braced?: string, bare?: string) => lookup((braced ?? bare ?? '').toLowerCase()) ?? UNKNOWN,
  )
}

/** Like `filledIn`, but undefined when a part is unknown. */
export function known(text: string, lookup: Lookup): string | undefined {
  const result = filledIn(text, lookup)
  return result.includes(UNKNOWN) || result.length > MAX_LENGTH ? undefined : result
}
