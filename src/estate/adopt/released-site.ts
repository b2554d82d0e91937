import { ANSWER, QUESTION, UNKNOWN_HOST } from '../../edge/record/proof.ts'
import { hostInServerName } from '../reading/text/written-names.ts'
import type { SiteDirective } from './site-text.ts'

/** The service recognizes its own entries by these headers. Every entry sends them, also an entry of an adopted site. */
const OWN_HEADERS = [QUESTION, ANSWER, UNKNOWN_HOST.header].map((name) => name.toLowerCase())
const OWN_VARIABLE = /^\$drawbridge_entry$/
const OWN_QUESTION = new RegExp(`^\\(\\$http_${QUESTION.toLowerCase().replaceAll('-', '_')}$`)

/**
 * The site in a file that a release wrote. Leaves out what the release copied from the entry: the proof of its plan and its maps
 * for upgrades. References to those maps get the names of an entry again. Text that the administrator added to the file stays.
 */
export const asSite = (directives: readonly SiteDirective[]): readonly SiteDirective[] =>
  directives.flatMap((each) =>
    isOfEntry(each) ? [] : [{ ...each, args: each.args.map(asWritten), block: each.block && asSite(each.block) }],
  )

function isOfEntry({ name, args: [first = '', second = ''] }: SiteDirective): boolean {
  if (name === 'map') return RELEASED.test(second)
  if (name === 'set') return OWN_VARIABLE.test(first)
  if (name === 'if') return OWN_QUESTION.test(first)
  return /^(add_header|proxy_set_header|proxy_hide_header)$/.test(name) && OWN_HEADERS.includes(first.toLowerCase())
}

const RELEASED = /^\$released_[0-9a-f]{12}_(upgrade|connection)$/
/** A long name is written as a pattern. */
const asWritten = (word: string): string => hostInServerName(word) ?? word.replace(RELEASED, '$$drawbridge_$1')

/** Whether a file that a release wrote contains only the comments and maps around the site. */
export const isWithoutSite = (text: string): boolean =>
  text.split('\n').every((line) => /^\s*(#.*)?$/.test(line) || /^map \$\w+ \$released_\w+ \{[^{}]*\}$/.test(line))
