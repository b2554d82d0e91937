import type { ErrorClass } from '../../model/evidence.ts'
import type { EdgeSettings } from '../settings.ts'
import { newestText, timeOf } from './error-log.ts'

export interface LoggedError {
  readonly errorClass: ErrorClass
  /** Milliseconds, rounded down to the second. */
  readonly at: number
}

/**
 * The class of the newest error about a host in the end of the log. Visitors can influence the content of the log, so the
 * result is a hint and not a proof. `since`: milliseconds; older lines are ignored.
 */
export async function newestErrorClass(
  { errorLog }: Pick<EdgeSettings, 'errorLog'>,
  host: string,
  since = 0,
): Promise<LoggedError | null> {
  const line = (await newestText(errorLog)).split('\n').findLast((text) => isErrorOf(text, host))
  if (line === undefined) return null
  const at = timeOf(line)
  return at >= since - 1000 ? { errorClass: errorClassOf(line), at } : null
}

const ERROR = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d \[(?:error|crit|alert|emerg)\] \d+#\d+: (?:\*\d+ )?/

function isErrorOf(line: string, host: string): boolean {
  if (!ERROR.test(line)) return false
  const [, asked = ''] = /, host: "([^"]*)"(?:, referrer: "[^"]*")?$/.exec(line) ?? []
  return asked.toLowerCase().replace(/\.?(?::\d+)?$/, '') === host
}

function errorClassOf(line: string): ErrorClass {
  const message = line.replace(ERROR, '')
  return CLASSES.find(([pattern]) => pattern.test(message))?.[1] ?? 'other'
}

/** Patterns of nginx's messages. Each starts at the beginning of the message, because the rest may contain a visitor's text. */
const CLASSES: readonly (readonly [RegExp, ErrorClass])[] = [
  [/^connect\(\) .*failed \((?:111|61): /, 'connection_refused'],
  [/^connect\(\) to unix:\S+ failed \(2: /, 'connection_refused'],
  [/^connect\(\) .*failed \((?:113|101|65|51): /, 'no_route'],
  [/^connect\(\) .*failed \(110: /, 'connect_timeout'],
  [/^upstream timed out \(\d+: [^)]*\) while connecting to upstream/, 'connect_timeout'],
  [/^upstream timed out /, 'upstream_timeout'],
  [/^(?:recv|send|writev|readv|sendfile)\(\) .*failed \((?:104|32): [^)]*\) while .*upstream/, 'upstream_reset'],
  [/^upstream prematurely closed connection /, 'upstream_closed_early'],
  [/^SSL_do_handshake\(\) failed .* while SSL handshaking to upstream/, 'upstream_tls'],
  [/^(?:peer closed connection in SSL handshake|upstream SSL certificate)/, 'upstream_tls'],
  [/^upstream sent (?:no valid|invalid|unexpected|unsupported)/, 'upstream_not_http'],
  [/^\S+ could not be resolved \(/, 'upstream_unresolved'],
  [/^no resolver defined to resolve /, 'upstream_unresolved'],
  [/^no live upstreams /, 'no_live_upstreams'],
  [/^client intended to send too large (?:body|chunked body)/, 'body_too_large'],
  [/^.{0,4096}? failed \(13: Permission denied\)/, 'permission_denied'],
  [/^.{0,4096}? (?:failed \(2: No such file or directory\)|is not found \((?:2|20): )/, 'file_missing'],
]
