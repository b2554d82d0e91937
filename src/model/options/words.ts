/** Options as names and values for people, such as `timeouts.read` and `60`. */
export const optionWords = (options: object | undefined): ReadonlyMap<string, string> =>
  new Map(wordsIn(options ?? {}, ''))

function wordsIn(value: object, above: string): [string, string][] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]): [string, string][] => {
    const path = above === '' ? name : `${above}.${name}`
    if (member === undefined) return []
    if (Array.isArray(member)) return [[path, member.map(itemText).join(', ')]]
    if (typeof member === 'object' && member !== null) return wordsIn(member, path)
    return [[path, member === true ? 'on' : member === false ? 'off' : String(member)]]
  })
}

/** A backend as `25:8081`. */
const itemText = (item: unknown): string =>
  typeof item === 'object' && item !== null ? Object.values(item).join(':') : String(item)

/** The options that differ. */
export function changedWords(
  before: ReadonlyMap<string, string> = new Map(),
  after: ReadonlyMap<string, string> = new Map(),
): { readonly field: string; readonly from: string; readonly to: string }[] {
  const names = [...new Set([...before.keys(), ...after.keys()])]
  return names
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => ({ field: name, from: before.get(name) ?? 'default', to: after.get(name) ?? 'default' }))
}
