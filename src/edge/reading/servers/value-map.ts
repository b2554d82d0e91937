import { NameIndex } from './name-index.ts'
import { translatePattern } from './name-pattern.ts'

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
      const pattern = isPattern(name) ? patternOf(name) : undefined
      if (pattern) this.#index.addPattern(pattern, value)
      else if (!isPattern(name)) this.#add(name.replace(/^\\/, '').toLowerCase(), value)
    }
  }

  value(lookup: Lookup, gathered: GatheredValue): string | undefined {
    const source = known(this.#text.source, lookup)
    if (source === undefined) return undefined
    return known(this.#find(source.toLowerCase(), gathered) ?? this.#text.default, lookup)
  }

  #find(key: string, gathered: GatheredValue): string | undefined {
    for (const kind of this.#text.gathered) {
      const value = gathered(kind, key)
      if (value !== undefined) return value
    }
    return this.#index.find(key)?.value
  }

  #add(key: string, value: string): void {
    if (this.#text.hasWildcards) this.#index.add(key, value)
    else this.#index.addExact(key, value)
  }
}

const isPattern = (name: string): boolean => name.startsWith('~')

const patternOf = (name: string) => translatePattern(name.replace(/^~\*?/, ''), name.startsWith('~*'))

/** False for a regular expression that is ignored, because it cannot be translated. */
export const isSupportedKey = (name: string): boolean => !isPattern(name) || patternOf(name) !== undefined

/** The value of a variable; undefined when it depends on the request. */
export type Lookup = (name: string) => string | undefined

/** Marks an unknown value in a text. No configuration can contain this character. */
export const UNKNOWN = '\0'

/** The limit of nginx. It also ends a text that doubles itself. */
const MAX_LENGTH = 4096

const VARIABLE = /\$(?:\{(\w+)\}|(\w+))/g

const ONE_VARIABLE = /^\$\w+$/

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
