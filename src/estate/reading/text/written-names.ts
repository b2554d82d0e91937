/**
 * Writes names of hosts so that they fit nginx's hash tables of default size. Drawbridge cannot set the size: the directive may
 * occur only once, and ours would make the administrator's own invalid. Therefore keys are host names only, and a name that is too
 * long is written as a pattern.
 */

/** nginx's default bucket is one cache line; those of x86-64 and arm64 have 64 bytes. A pointer has 8. */
const BUCKET_BYTES = 64
const POINTER_BYTES = 8

/** Whether nginx can build a hash table with this key. An element has two pointers, the length in two bytes, and the key, aligned. */
export function fitsHashTable(key: string): boolean {
  const aligned = Math.ceil((key.length + 2) / POINTER_BYTES) * POINTER_BYTES
  return POINTER_BYTES + aligned + POINTER_BYTES <= BUCKET_BYTES
}

/** A host, and a host with escaped dots, as sources of regular expressions. */
export const HOST_PATTERN = '[a-z0-9_-]+(?:\\.[a-z0-9_-]+)+'
export const ESCAPED_HOST = '[a-z0-9_-]+(?:\\\\\\.[a-z0-9_-]+)+'
export const escaped = (host: string): string => host.replaceAll('.', '\\.')
export const unescaped = (host: string): string => host.replaceAll('\\.', '.')

/** A host as the name of a server. The dot is the only character of a host with a meaning in a pattern. */
export const serverName = (host: string): string => (fitsHashTable(host) ? host : `"~^${escaped(host)}$"`)
/** A host as the key of a map. Maps ignore case, and visitors may ask for a certificate in capitals. */
export const mapKey = (host: string): string => (fitsHashTable(host) ? host : `"~*^${escaped(host)}$"`)

/** The host for a server_name or the key of a map, without quotes, that is a long name in our form. */
export const hostInServerName = (name: string): string | undefined => longHost(PATTERN_NAME.exec(name)?.[1])
export const hostInMapKey = (key: string): string | undefined => longHost(PATTERN_KEY.exec(key)?.[1])
const PATTERN_NAME = new RegExp(`^~\\^(${ESCAPED_HOST})\\$$`)
const PATTERN_KEY = new RegExp(`^~\\*\\^(${ESCAPED_HOST})\\$$`)

const longHost = (pattern = ''): string | undefined =>
  fitsHashTable(unescaped(pattern)) ? undefined : unescaped(pattern)
