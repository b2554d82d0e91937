export interface Folders {
  /** The names in the folder. None if it is not a folder. */
  list(folder: string): readonly string[]
  exists(path: string): boolean
}

/** The pattern of an include matches more paths than any administrator intends. The message is a clause. */
export class TooManyPaths extends Error {
  constructor() {
    super('its pattern matches too many paths; none of them was read')
  }
}

/** Links to a parent folder multiply the paths with every step of a pattern. */
const MOST_PATHS = 200_000
/** Each folder is listed separately. */
const MOST_FOLDERS = 5_000

export const isGlob = (pattern: string): boolean => /[*?[]/.test(pattern)

/**
 * The paths that match an absolute pattern, in the order in which nginx reads them. Throws TooManyPaths. `most`: the remaining
 * number of paths for all patterns together.
 */
export function expandGlob(pattern: string, folders: Folders, most = { left: MOST_PATHS }): string[] {
  let paths = ['']
  const [, ...steps] = pattern.split('/')
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1
    if (isGlob(step)) {
      paths = paths.flatMap((path) => {
        const names = matching(folders, path, step)
        most.left -= names.length
        if (most.left < 0) throw new TooManyPaths()
        return names.map((name) => `${path}/${name}`)
      })
      if (paths.length > MOST_FOLDERS && steps.slice(index + 1).some(isGlob)) throw new TooManyPaths()
    } else paths = paths.map((path) => `${path}/${step.replaceAll(/\\(.)/g, '$1')}`)
    if (isLast && !isGlob(step)) paths = paths.filter((path) => folders.exists(path))
  }
  return paths.sort((a, b) => (a < b ? -1 : 1))
}

function matching(folders: Folders, folder: string, step: string): string[] {
  const pieces = piecesOf(step)
  const showsHidden = step.startsWith('.')
  return folders
    .list(folder === '' ? '/' : folder)
    .filter((name) => (showsHidden || !name.startsWith('.')) && matches(pieces, name))
}

/** Matches one character of a name, or any text for a star. */
type Piece = '*' | ((character: string) => boolean)

function piecesOf(step: string): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < step.length; at += 1) {
    const character = step.charAt(at)
    const set = character === '[' ? setAt(step, at) : undefined
    if (set) {
      pieces.push(set.has)
      at = set.end
    } else if (character === '*') pieces.push('*')
    else if (character === '?') pieces.push(() => true)
    else {
      if (character === '\\' && at + 1 < step.length) at += 1
      const literal = step.charAt(at)
      pieces.push((given) => given === literal)
    }
  }
  return pieces
}

/** `[a-z]`, `[!a-z]`, `[]x]`: a leading `]` belongs to the set. Undefined when the set has no end. */
function setAt(step: string, start: number): { has: (character: string) => boolean; end: number } | undefined {
  const isNegated = /[!^]/.test(step.charAt(start + 1))
  const first = start + (isNegated ? 2 : 1)
  const end = step.indexOf(']', first + 1)
  if (end === -1) return undefined
  const ranges = [...step.slice(first, end).matchAll(/(.)-(.)|(.)/gs)]
  const isIn = (character: string) =>
    ranges.some(([, low, high, single]) =>
      single === undefined ? character >= (low ?? '') && character <= (high ?? '') : character === single,
    )
  return { has: (character) => isIn(character) !== isNegated, end }
}

/** On a mismatch only the last star is retried, one character further. The time is at most quadratic. */
function matches(pieces: readonly Piece[], name: string): boolean {
  let piece = 0
  let star = -1
  let retry = 0
  for (let at = 0; at < name.length; ) {
    const expected = pieces[piece]
    if (expected === '*') {
      star = piece
      piece += 1
      retry = at
    } else if (expected?.(name.charAt(at))) {
      piece += 1
      at += 1
    } else if (star === -1) return false
    else {
      piece = star + 1
      retry += 1
      at = retry
    }
  }
  return pieces.slice(piece).every((rest) => rest === '*')
}
