/** A set of bytes: entry n is 1 when byte n belongs to it. */
export function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256)
  for (let i = 0; i < characters.length; i += 1) set[characters.charCodeAt(i)] = 1
  return set
}

export function asRange(low: number, high: number): Uint8Array {
  const set = new Uint8Array(256)
  return set.fill(1, low, high + 1)
}

export const inverted = (set: Uint8Array): Uint8Array => set.map((value) => 1 - value)

const union = (...sets: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(256).map((_, i) => (sets.some((set) => set[i] === 1) ? 1 : 0))

const lower = asRange(97, 122)
const upper = asRange(65, 90)
const digit = asRange(48, 57)
const alpha = union(lower, upper)
const word = union(alpha, digit, byteSet('_'))
const space = byteSet(' \t\n\v\f\r')
const blank = byteSet(' \t')
const vertical = byteSet('\n\v\f\r\x85')
const horizontal = byteSet(' \t\xa0')
const graph = asRange(33, 126)

export const POSIX: Readonly<Record<string, Uint8Array>> = {
  alnum: union(alpha, digit),
  alpha,
  ascii: asRange(0, 127),
  blank,
  cntrl: union(asRange(0, 31), asRange(127, 127)),
  digit,
  graph,
  lower,
  print: asRange(32, 126),
  punct: union(asRange(33, 47), asRange(58, 64), asRange(91, 96), asRange(123, 126)),
  space,
  upper,
  word,
  xdigit: union(digit, asRange(65, 70), asRange(97, 102)),
}

const notNewLine = inverted(byteSet('\n'))

/** By the letter of their escape. */
export const CLASSES: Readonly<Record<string, Uint8Array>> & Readonly<Record<'any' | 'notNewLine', Uint8Array>> = {
  any: asRange(0, 255),
  notNewLine,
  d: digit,
  D: inverted(digit),
  w: word,
  W: inverted(word),
  s: space,
  S: inverted(space),
  h: horizontal,
  H: inverted(horizontal),
  v: vertical,
  V: inverted(vertical),
  N: notNewLine,
}
