import type { Included, Located } from '../text/included.ts'
import { NameIndex } from './name-index.ts'
import { translatePattern } from './name-pattern.ts'

/**
 * `map $source $variable { … }`. Its includes are read only when the variable is used, because maps may contain secrets such
 * as private keys.
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
        else this.#included.report(path, line, 'a regular expression in a map is not supported by Drawbridge')
      }
    }
    return index
  }
}

/** The value of a variable; undefined when it depends on the request. */
export type Lookup = (name: string) => string | undefined

/** Marks an unknown value in a text. No configuration can contain this character. */
export const UNKNOWN = '\0'

/** The limit of nginx. It also ends a text that doubles itself. */
const MAX_LENGTH = 4096

/** Replaces `$name` and `${name}`. */
export function filledIn(text: string, lookup: Lookup): string {
  if (!text.includes('$')) return text
  if (text.length > MAX_LENGTH) return UNKNOWN
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_, braced?: string, bare?: string) => lookup((braced ?? bare ?? '').toLowerCase()) ?? UNKNOWN,
  )
}

/** Like `filledIn`, but undefined when a part is unknown. */
export function known(text: string, lookup: Lookup): string | undefined {
  const result = filledIn(text, lookup)
  return result.includes(UNKNOWN) || result.length > MAX_LENGTH ? undefined : result
}
