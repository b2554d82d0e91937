/** What the two languages write alike and mean differently, or what only PCRE has: better not understood than wrong. */
const FOREIGN = /\\[GKQEREhHXNpPoxgk]|\(\?(?:[>|#R&(+\d-]|P[=>])|\(\*|\[\[[.=]/

/** For all that follows, so it can be told of the whole where it stands first. */
const CASELESS = /^(\^?)\(\?i\)/

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  xdigit: '0-9a-fA-F',
  word: '\\w',
  space: '\\s',
}

/** A regular expression of nginx's (PCRE) as one of ours; undefined when it has no sure equal here. */
export function translatePattern(pcre: string, isCaseless: boolean): RegExp | undefined {
  const body = pcre.replace(CASELESS, '$1')
  if (FOREIGN.test(body)) return undefined
  const source = body
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => POSIX_CLASSES[name] ?? whole)
    .replaceAll(/\\([\s\S])/g, (whole, escaped: string) => ANCHORS[escaped] ?? whole)
  try {
    return new RegExp(source, isCaseless || body !== pcre ? 'i' : '')
  } catch {
    return undefined
  }
}

const ANCHORS: Readonly<Record<string, string>> = { A: '^', z: '$', Z: '$' }
