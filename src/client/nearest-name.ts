/** More differences than this are another name, not a typing error. */
const MOST_DIFFERENCES = 3

/** The name that is most like the given one. Undefined if none is like it. */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  // A short name is like many others.
  const most = Math.min(MOST_DIFFERENCES, (given.split('.', 1)[0] ?? '').length - 1)
  let nearest: { readonly name: string; readonly differences: number } | undefined
  for (const name of names) {
    if (Math.abs(name.length - given.length) > most) continue
    const differences = differencesOf(given, name)
    if (differences <= most && differences < (nearest?.differences ?? Number.POSITIVE_INFINITY))
      nearest = { name, differences }
  }
  return nearest?.name
}

/** How many letters must be added, removed or replaced. */
function differencesOf(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1)
      line.push(Math.min(replaced, (above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1))
    }
    above = line
  }
  return above[other.length] ?? 0
}
