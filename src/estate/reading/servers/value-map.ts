import type { Slices } from '../../../primitives/slices.ts'
import { pattern, type StepBudget } from '../patterns/pattern.ts'
import { NameIndex } from './name-index.ts'

/** `map $source $variable { … }` as plain data. */
export interface MapText {
  readonly source: string
  readonly default: string
  readonly hasWildcards: boolean
  /** Keys and values in the order of the configuration. */
  readonly entries: readonly (readonly [key: string, value: string])[]
  /** The kinds of included files whose entries belong to the map, too. See `KnownIncludes`. */
  readonly gathered: readonly string[]
}

/** The value of a key in the gathered files of a kind. */
export type GatheredValue = (kind: string, key: string) => string | undefined

export class ValueMap {
  readonly #text: Omit<MapText, 'entries'>
  readonly #index = new NameIndex<string>()

  private constructor({ entries: _, ...text }: MapText) {
    this.#text = text
  }

  static of(text: MapText): ValueMap {
    const map = new ValueMap(text)
    for (const [name, value] of text.entries) map.#put(name, value)
    return map
  }

  /** Builds the map in slices: a map may have hundreds of thousands of entries. */
  static async inSlices(text: MapText, slices: Slices): Promise<ValueMap> {
    const map = new ValueMap(text)
    for (const [index, [name, value]] of text.entries.entries()) {
      map.#put(name, value)
      if (index % 256 === 255 && slices.isOver) await slices.next()
    }
    return map
  }

  #put(name: string, value: string): void {
    if (isPattern(name)) this.#index.addPattern(patternOf(name), value)
    else this.#add(name.replace(/^\\/, '').toLowerCase(), value)
  }

  value(lookup: Lookup, gathered: GatheredValue, budget: StepBudget): string | undefined {
    const source = known(this.#text.source, lookup)
    if (source === undefined) return undefined
    const found = this.#find(source, gathered, budget)
    return found === UNKNOWN ? undefined : known(found ?? this.#text.default, lookup)
  }

  /** Patterns match the source in its original case. */
  #find(source: string, gathered: GatheredValue, budget: StepBudget): string | undefined {
    const key = source.toLowerCase()
    for (const kind of this.#text.gathered) {
      const value = gathered(kind, key)
      if (value !== undefined) return value
    }
    const found = this.#index.find(key, source, budget)
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
