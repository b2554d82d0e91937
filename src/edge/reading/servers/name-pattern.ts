import { createContext, Script } from 'node:vm'

export type Pattern = (text: string) => boolean

/** Syntax that only PCRE has, or that means something else in JavaScript. Such a pattern is not translated. */
const UNSUPPORTED = /\\[GKQEREhHXNpPoxgk]|\(\?(?:[>|#R&(+\d-]|P[=>])|\(\*|\[\[[.=]/

/** At the beginning of a pattern the option applies to the whole pattern. */
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

/** Translates a PCRE pattern; undefined when JavaScript has no exact equivalent. */
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

/** Repeated groups, or many open repetitions, may need exponential time. */
const mayBacktrack = (source: string): boolean => /\)[*+{]/.test(source) || (source.match(/[*+]|,\}/g) ?? []).length > 2

/** A normal match takes microseconds. The limit allows for a busy machine. */
const MATCH_TIMEOUT_MS = 250
const script = new Script('pattern.test(text)')
const sandbox = createContext({ pattern: /^/, text: '' })

/** A caller chooses the text, so the time of a match is limited. nginx limits its own matches, too. */
function matchesInTime(pattern: RegExp, text: string): boolean {
  Object.assign(sandbox, { pattern, text })
  try {
    return script.runInContext(sandbox, { timeout: MATCH_TIMEOUT_MS }) === true
  } catch {
    return false
  }
}
