/** What a variable is worth; undefined when only a request would tell. */
export type Lookup = (name: string) => string | undefined

/** What stands in a text for a value that is not known: nothing in a configuration can be it. */
export const UNKNOWN = '\0'

/** The text with `$name` and `${name}` replaced. */
export const filledIn = (text: string, lookup: Lookup): string =>
  text.includes('$')
    ? text.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => {
        return lookup((braced ?? bare ?? '').toLowerCase()) ?? UNKNOWN
      })
    : text

/** The same, or undefined when a part of it is not known. */
export function known(text: string, lookup: Lookup): string | undefined {
  const result = filledIn(text, lookup)
  return result.includes(UNKNOWN) ? undefined : result
}
