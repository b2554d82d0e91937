import type { Included, Located } from '../text/included.ts'
import { NameIndex } from './name-index.ts'
import { translatePattern } from './name-pattern.ts'

/**
 * `map $source $variable { … }`. Its files are read when its variable is first asked for, and in no other case: maps may
 * hold what is nobody's business, such as keys.
 */
export class ValueMap {
  readonly #map: Located
  readonly #included: Included
  #index: NameIndex<string> | undefined
  #default = ''

  constructor(map: Located, included: Included) {
    this.#map = map
    this.#included = included
  }

  value(lookup: Lookup): string | undefined {
    this.#index ??= this.#read()
    const source = known(this.#map.args[0] ?? '', lookup)
    if (source === undefined) return undefined
    return known(this.#index.find(source.toLowerCase())?.value ?? this.#default, lookup)
  }

  #read(): NameIndex<string> {
    const index = new NameIndex<string>()
    const entries = [...this.#included.in(this.#map)]
    const hasWildcards = entries.some(({ name, args }) => name === 'hostnames' && args.length === 0)
    for (const { name, args, path, line } of entries) {
      const [value] = args
      if (value === undefined) continue
      if (name === 'default') this.#default = value
      else if (!name.startsWith('~')) {
        const key = name.replace(/^\\/, '').toLowerCase()
        if (hasWildcards) index.add(key, value)
        else index.addExact(key, value)
      } else {
        const pattern = translatePattern(name.replace(/^~\*?/, ''), name.startsWith('~*'))
        if (pattern) index.addPattern(pattern, value)
        else this.#included.report(path, line, 'a regular expression in a map is not understood here')
      }
    }
    return index
  }
}

/** What a variable is worth; undefined when only a request would tell. */
export type Lookup = (name: string) => string | undefined

/** What stands in a text for a value that is not known: nothing in a configuration can be it. */
export const UNKNOWN = '\0'

/** nginx takes no longer values, and a text that doubles itself would have no end. */
const MAX_LENGTH = 4096

/** The text with `$name` and `${name}` replaced. */
export function filledIn(text: string, lookup: Lookup): string {
  if (!text.includes('$')) return text
  if (text.length > MAX_LENGTH) return UNKNOWN
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_, braced?: string, bare?: string) => lookup((braced ?? bare ?? '').toLowerCase()) ?? UNKNOWN,
  )
}

/** The same, or undefined when a part of it is not known. */
export function known(text: string, lookup: Lookup): string | undefined {
  const result = filledIn(text, lookup)
  return result.includes(UNKNOWN) || result.length > MAX_LENGTH ? undefined : result
}
