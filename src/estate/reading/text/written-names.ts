/**
 * How the names of hosts are written into nginx's files, so that they fit nginx's hash tables of default size. Their size cannot be
 * ours to set: a directive that may occur only once would make the administrator's own invalid. So keys are host names only, and a
 * name that is too long is written as a pattern.
 */

/** nginx's default bucket is one cache line; those of x86-64 and arm64 have 64 bytes. A pointer has 8. */
const BUCKET_BYTES = 64
const POINTER_BYTES = 8

/** Whether nginx can build a hash table with this key. An element has two pointers, the length in two bytes, and the key, aligned. */
export function fitsHashTable(key: string): boolean {
  const aligned = Math.ceil((key.length + 2) / POINTER_BYTES) * POINTER_BYTES
  return POINTER_BYTES + aligned + POINTER_BYTES <= BUCKET_BYTES
}

/** A host, and one in a pattern. */
export const HOST_PATTERN = '[a-z0-9_-]+(?:\\.[a-z0-9_-]+)+'
export const ESCAPED_HOST = '[a-z0-9_-]+(?:\\\\\\.[a-z0-9_-]+)+'
export const escaped = (host: string): string => host.replaceAll('.', '\\.')
export const unescaped = (host: string): string => host.replaceAll('\\.', '.')

/** A host as the name of a server. Hosts have no character but the dot that means something in a pattern. */
export const serverName = (host: string): string => (fitsHashTable(host) ? host : `"~^${escaped(host)}$"`)
/** A host as the key of a map. Maps ignore case, and visitors may ask for a certificate in capitals. */
export const mapKey = (host: string): string => (fitsHashTable(host) ? host : `"~*^${escaped(host)}$"`)

/** The host that a server_name or the key of a map stands for if it is a long name in our form, without its quotes. */
export const hostInServerName = (name: string): string | undefined => longHost(PATTERN_NAME.exec(name)?.[1])
export const hostInMapKey = (key: string): string | undefined => longHost(PATTERN_KEY.exec(key)?.[1])
const PATTERN_NAME = new RegExp(`^~\\^(${ESCAPED_HOST})\\$$`)
const PATTERN_KEY = new RegExp(`^~\\*\\^(${ESCAPED_HOST})\\$$`)

const longHost = (pattern = ''): string | undefined =>
  fitsHashTable(unescaped(pattern)) ? undefined : unescaped(pattern)
