import { createContext, Script } from 'node:vm'

/** Whether a pattern matches. */
export type Pattern = (text: string) => boolean

/** What the two languages write alike and mean differently, or what only PCRE has: better not understood than wrong. */
const UNSUPPORTED = /\\[GKQEREhHXNpPoxgk]|\(\?(?:[>|#R&(+\d-]|P[=>])|\(\*|\[\[[.=]/

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

const ANCHORS: Readonly<Record<string, string>> = { A: '^', z: '$', Z: '$' }

/** A regular expression of nginx's (PCRE) as one of ours; undefined when it has no sure equal here. */
export function translatePattern(pcre: string, isCaseless: boolean): Pattern | undefined {
  const body = pcre.replace(CASELESS, '$1')
  if (UNSUPPORTED.test(body)) return undefined
  const source = body
    .replaceAll('(?P<', '(?<')
    .replaceAll(/\[:(\w+):\]/g, (whole, name: string) => POSIX_CLASSES[name] ?? whole)
    .replaceAll(/\\([\s\S])/g, (whole, escaped: string) => ANCHORS[escaped] ?? whole)
  try {
    const pattern = new RegExp(source, isCaseless || body !== pcre ? 'i' : '')
    return mayBacktrack(source) ? (text) => matchesInTime(pattern, text) : (text) => pattern.test(text)
  } catch {
    return undefined
  }
}

/** Repeated groups, or many open repetitions, may try more ways than there is time for. */
const mayBacktrack = (source: string): boolean => /\)[*+{]/.test(source) || (source.match(/[*+]|,\}/g) ?? []).length > 2

/** A good match takes microseconds; the rest is for a machine that has much else to do. */
const MATCH_TIMEOUT_MS = 250
const script = new Script('pattern.test(text)')
const sandbox = createContext({ pattern: /^/, text: '' })

/** Whoever may ask for a name chooses the text, so a pattern's time is limited; nginx limits its own, too. */
function matchesInTime(pattern: RegExp, text: string): boolean {
  Object.assign(sandbox, { pattern, text })
  try {
    return script.runInContext(sandbox, { timeout: MATCH_TIMEOUT_MS }) === true
  } catch {
    return false
  }
}
