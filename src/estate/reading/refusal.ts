import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { escapeText } from '../../model/escape-text.ts'

/** Why nginx rejects a configuration. It contains neither nginx's output nor configuration text. */
export interface Refusal {
  /** A clause without a full stop. */
  readonly reason: string
  readonly file?: string | undefined
  readonly line?: number | undefined
  /** The configuration is valid: the systemd unit of this process forbids something that nginx itself is allowed to do. */
  readonly isUnit?: true
}

/**
 * The first `[emerg]` line has the cause; later lines are consequences. `unit`: the systemd unit whose restrictions applied to
 * nginx.
 */
export function refusalIn(output: string, unit: string | null = ownUnit()): Refusal {
  const line = output.split('\n').find((text) => text.includes('[emerg]')) ?? ''
  const [, forbidden = ''] = / "(\/[^"]+)" failed \(30: /.exec(line) ?? []
  if (unit !== null && forbidden !== '' && existsSync(dirname(forbidden))) return forbiddenBy(unit, forbidden)
  const [, file, number] = / in (\/[^"]+):(\d+)$/.exec(line) ?? []
  const reason = REASONS.find(([pattern]) => pattern.test(line))?.[1] ?? 'nginx -t failed'
  // Text of a broken file may look like a path. The path of an existing file reveals nothing.
  const place = file !== undefined && existsSync(file) ? { file, line: Number(number) } : {}
  return { reason, ...place }
}

function forbiddenBy(unit: string, path: string): Refusal {
  const [file, folder] = [escapeText(path), escapeText(dirname(path))]
  const name = unit.replace(/\.service$/, '')
  const permit = `Run \`systemctl edit ${name}\` and add ReadWritePaths=${folder}. Then run \`systemctl restart ${name}\``
  return { reason: `the agent may not write ${file} (its unit forbids it). ${permit}`, isUnit: true }
}

/** Such as `drawbridge-edge.service`. Null outside of a unit. */
function ownUnit(): string | null {
  try {
    return /\/([\w@.-]+\.service)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? null
  } catch {
    return null
  }
}

/** A refusal as sentences. `whose`: the name of the configuration, for a refusal that is its fault. */
export function refusalText(refusal: Refusal, whose: string): string {
  const sentence = refusalSentence(refusal)
  if (refusal.isUnit) return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
  return `${whose}: ${sentence}. Repair it and run "nginx -t".`
}

export const refusalSentence = ({ reason, file, line }: Refusal): string =>
  file === undefined ? reason : `${reason} (${escapeText(file)}, line ${line})`

/** Patterns of nginx's messages. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /"map_hash_\w+" directive is duplicate/,
    'map_hash_bucket_size and map_hash_max_size must stand once, before the first map and so before the include of Drawbridge',
  ],
  [/directive is duplicate/, 'a directive is used twice'],
  [/duplicate default server/, 'two servers are the default server of the same address and port'],
  [/unknown directive/, 'a directive is unknown'],
  [/directive is not allowed here/, 'a directive is not allowed in its context'],
  [/unexpected|is not terminated|too long parameter/, 'the syntax is wrong'],
  [/invalid number of arguments|invalid parameter|invalid value/, 'a directive has an invalid value'],
  [/host not found/, 'a host name does not resolve'],
  [
    /could not build server_names_hash/,
    'a server_name is too long for server_names_hash_bucket_size, or there are too many for server_names_hash_max_size',
  ],
  [/could not build .*hash/, 'a key of a map or another table is too long for its hash_bucket_size'],
  [/conflicting parameter/, 'a map has the same key twice'],
  [/cannot load certificate|SSL_CTX|PEM_/, 'a certificate or key cannot be loaded'],
  [/bind\(\).*98:/, 'another program uses an address and port of a listen directive'],
  [/bind\(\).*99:/, 'the address of a listen directive is not an address of this machine'],
  [/bind\(\)/, 'the address and port of a listen directive cannot be used'],
  [/13: Permission denied/, 'nginx has no permission for a file'],
  [/2: No such file/, 'a file is missing'],
  [/30: Read-only file/, 'a file system is read-only'],
]
