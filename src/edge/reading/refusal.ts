import { existsSync } from 'node:fs'
import { escapeText } from '../../model/escape-text.ts'

/** What `nginx -t` found, told without a word of what it printed or read. */
export interface Refusal {
  readonly reason: string
  /** The name of the directive that stands twice, where that is the fault. */
  readonly duplicate?: string | undefined
  readonly file?: string | undefined
  readonly line?: number | undefined
}

/** The first `[emerg]` line is the fault; others follow from it. */
export function refusalIn(output: string): Refusal {
  const line = output.split('\n').find((text) => text.includes('[emerg]')) ?? ''
  const [, file, number] = / in (\/[^"]+):(\d+)$/.exec(line) ?? []
  const duplicate = /"([a-z_]{1,64})" directive is duplicate/.exec(line)?.[1]
  const reason = REASONS.find(([pattern]) => pattern.test(line))?.[1] ?? 'it does not pass the test'
  // Text of a broken file may look like a place; a place that exists gives nothing away.
  const place = file !== undefined && existsSync(file) ? { file, line: Number(number) } : {}
  return { reason, duplicate, ...place }
}

export const refusalSentence = ({ reason, file, line }: Refusal): string =>
  file === undefined ? reason : `${reason} (${escapeText(file)}, line ${line})`

/** nginx's own messages, of which only the kind is told. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/directive is duplicate/, 'a directive stands twice'],
  [/duplicate default server/, 'two servers want to be the default for the same address and port'],
  [/unknown directive/, 'there is a directive that it does not know'],
  [/directive is not allowed here/, 'a directive stands where it may not'],
  [/unexpected|is not terminated|too long parameter/, 'the text is not well-formed'],
  [/invalid number of arguments|invalid parameter|invalid value/, 'a directive has a wrong value'],
  [/host not found/, 'a name in it does not resolve'],
  [
    /could not build .*hash/,
    'a name is too long for its tables; raise server_names_hash_bucket_size and map_hash_bucket_size',
  ],
  [/conflicting parameter/, 'one name stands twice in a map'],
  [/cannot load certificate|SSL_CTX|PEM_/, 'a certificate or key cannot be loaded'],
  [/bind\(\).*98:/, 'an address and port that it listens on is taken by another program'],
  [/bind\(\).*99:/, 'an address that it listens on is not one of this machine'],
  [/bind\(\)/, 'an address and port that it listens on cannot be had'],
  [/13: Permission denied/, 'a file may not be read or written'],
  [/2: No such file/, 'a file is missing'],
]
