import type { Drift } from '../../edge/contract/list.ts'
import { HEADER_NAMES, HEADER_WORDS } from '../../model/options/grammar.ts'

/** `at`: the lines of the block before the difference. */
type BlockDrift = Pick<Drift, 'field' | 'expected' | 'found' | 'added' | 'absent'> & { readonly at: number }

/**
 * How the server blocks of a host differ from those of its record, in the names of options. Must not contain text of a file: only
 * single words of directives whose values are no secrets.
 */
export function blockDrift(rendered: string, found: string): readonly BlockDrift[] {
  const fields = blockLines(rendered, found)
  // The same lines in another order, or with other spaces.
  if (fields.length === 0) return [{ field: 'block', at: 0 }]
  return fields.map(({ field, missing, further }) => {
    const at = further[0]?.at ?? 0
    if (field === 'block') return { field, at, added: further.length, absent: missing.length }
    const [expected, value] = [toldValueOf(missing), toldValueOf(further)]
    return { field, at, ...(expected !== undefined && value !== undefined && { expected, found: value }) }
  })
}

interface Line {
  readonly text: string
  readonly at: number
}

/** The lines that only one of the two texts has, by the names of options. For a local command only: these are lines of a file. */
export function blockLines(rendered: string, found: string) {
  const [before, after] = [linesOf(rendered), linesOf(found)]
  const [absent, added] = [byField(without(before, after)), byField(without(after, before))]
  return [...new Set([...absent.keys(), ...added.keys()])].map((field) => ({
    field,
    missing: absent.get(field) ?? [],
    further: added.get(field) ?? [],
  }))
}

const byField = (lines: readonly Line[]): ReadonlyMap<string, readonly Line[]> =>
  Map.groupBy(lines, ({ text }) => directiveOf(text)?.field ?? 'block')

const linesOf = (text: string): Line[] =>
  text.split('\n').flatMap((raw, at) => (raw.trim() === '' ? [] : [{ text: raw.trim().replaceAll(/\s+/g, ' '), at }]))

/** The lines that the others do not have, each as often as it is missing there. */
function without(lines: readonly Line[], others: readonly Line[]): Line[] {
  const left = new Map<string, number>()
  for (const { text } of others) left.set(text, (left.get(text) ?? 0) + 1)
  return lines.filter(({ text }) => {
    const count = left.get(text) ?? 0
    left.set(text, count - 1)
    return count <= 0
  })
}

/** The first group of a pattern is a value that may be told. */
const HEADERS = ['Strict-Transport-Security', ...HEADER_NAMES.map((name) => HEADER_WORDS[name].header)].join('|')
const DIRECTIVES: readonly (readonly [field: string, pattern: RegExp])[] = [
  ['backend', /^proxy_pass (\S+);$/],
  ['backends', /^(?:server (\S+) max_fails|upstream |proxy_next_upstream|proxy_redirect )/],
  ['maxBody', /^client_max_body_size (\S+);$/],
  ['timeouts.connect', /^proxy_connect_timeout (\S+);$/],
  ['timeouts.send', /^proxy_send_timeout (\S+);$/],
  ['timeouts.read', /^proxy_read_timeout (\S+);$/],
  ['buffering', /^proxy_(?:request_)?buffering (\S+);$/],
  ['websocket', /^proxy_set_header (?:Upgrade|Connection) /],
  ['allow', /^(?:allow (\S+)|deny all);$/],
  ['basicAuth', /^(?:auth_basic|proxy_set_header Authorization )/],
  ['backendTls', /^proxy_ssl_/],
  ['maintenance', /^(?:add_header (?:Retry-After|Cache-Control) |return 503 )/],
  ['headers', new RegExp(`^(?:add|proxy_hide)_header (?:${HEADERS})[ ;]`)],
  ['name', /^server_name /],
  ['listen', /^listen (\S+?)(?: ssl)?;$/],
  ['proof', /\$drawbridge_entry\b/],
]

function directiveOf(text: string): { readonly field: string; readonly value: string | undefined } | undefined {
  for (const [field, pattern] of DIRECTIVES) {
    const match = pattern.exec(text)
    if (match) return { field, value: match[1] }
  }
  return undefined
}

const WORD = /^[A-Za-z0-9.:/[\]-]{1,100}$/
const MOST_VALUES = 5

/** `unset` for no line. Undefined if not all values may be told. */
function toldValueOf(lines: readonly Line[]): string | undefined {
  if (lines.length === 0) return 'unset'
  const values = [...new Set(lines.map(({ text }) => directiveOf(text)?.value))]
  const isTold = values.length <= MOST_VALUES && values.every((value) => value !== undefined && WORD.test(value))
  return isTold ? values.join(',') : undefined
}
