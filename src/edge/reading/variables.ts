/** What a variable is worth; undefined when only a request would tell. */
export type Lookup = (name: string) => string | undefined

/** What stands in a text for a value that is not known: nothing in a configuration can be it. */
export const UNKNOWN = '\0'

/** nginx takes no longer values, and a text that doubles itself would have no end. */
const LONGEST = 4096

/** The text with `$name` and `${name}` replaced. */
export function filledIn(text: string, lookup: Lookup): string {
  if (!text.includes('$')) return text
  if (text.length > LONGEST) return UNKNOWN
  return text.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (_, braced?: string, bare?: string) => lookup((braced ?? bare ?? '').toLowerCase()) ?? UNKNOWN,
  )
}

/** The same, or undefined when a part of it is not known. */
export function known(text: string, lookup: Lookup): string | undefined {
  const result = filledIn(text, lookup)
  return result.includes(UNKNOWN) || result.length > LONGEST ? undefined : result
}
